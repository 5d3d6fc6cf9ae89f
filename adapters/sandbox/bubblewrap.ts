import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { ToolError } from '../../domain/calls/errors.ts'
import type { Command, CommandResult, Sandbox } from '../../domain/ports/index.ts'
import { signalTo } from '../processes/group.ts'
import { doorOf, removeCgroup } from './cgroup.ts'
import { commandEnvironment, searchPath } from './environment.ts'
import { SandboxUnavailable } from './error.ts'
import { type Bubblewrap, foundBubblewrap, TRIAL_MS } from './find-bubblewrap.ts'
import { type HeldFolder, holding, replaced } from './held-folder.ts'
import { type ConfinedArguments, confinedArguments, ENTER, startConfined, withProcessLimit } from './isolation.ts'
import { homeOf, type Machine, machineOf } from './machine.ts'
import { filterArguments, giveFilter, giveTo, UNFILTERED } from './pass-filter.ts'
import { KILL_AFTER_MS, runProcess } from './process.ts'
import { canLimit, isExempt, MAX_PROCESSES, makeLimit } from './process-limit.ts'
import { hasInEnvironment } from './process-table.ts'
import { MARKER, type ProcessRegistry, processRegistry } from './registry.ts'
import { type Protected, userRepositories } from './repositories.ts'
import { REFUSED } from './same-folders.ts'
import { withoutSetId } from './set-id.ts'
import { readStatus, STATUS, type Status } from './status.ts'
import { systemCallFilter } from './system-calls.ts'
import { workingFolder } from './working-folder.ts'

export interface SandboxOptions {
  /** The real path of the workspace, the only place where commands can leave files. */
  readonly workspace: string
  /** Paths that commands must not see: the data folder, the vault, tokens. Missing paths are skipped. */
  readonly hide: readonly string[]
  /** keepup's environment. Commands get a few variables of it. Default: the environment of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** Absolute paths of more files and folders that commands can read. Missing paths are skipped. Default: none. */
  readonly readable?: readonly string[]
  readonly graceMs?: number
  /** The absolute path of bubblewrap. Default: the first bubblewrap that no agent can write. */
  readonly bwrap?: string
  /** The data folder that records running commands, for `reap`. Programs in its workspaces are not trusted. */
  readonly dataFolder?: string
  /** The agent and driver that run the commands. Default: none. */
  readonly driverId?: string
  /** The most processes of a command. */
  readonly processes?: number
  /** The filter of system calls. Null: none. Default: the filter for this architecture. */
  readonly filter?: Buffer | null
  /** Receives warnings about the confinement. */
  readonly warn?: (text: string) => void
}

interface Confinement extends SandboxOptions, Protected, Bubblewrap {
  readonly bwrap: string
  readonly hide: readonly string[]
  /** Each command has a control group with a limit of processes. */
  readonly grouped: boolean
  readonly registry: ProcessRegistry | null
  readonly machine: Machine
  readonly filter: Buffer | null
  readonly folder: HeldFolder
}

/** The descriptor for the command's variables. bubblewrap itself must not start with them. */
const VARIABLES = 5

export const UNLIMITED =
  'commands of root can start any number of processes here: Linux limits them only in a control group with the "pids" ' +
  'controller, which cannot be made; run keepup as an ordinary user, or where it may make such groups'

/**
 * A sandbox of bubblewrap. Commands see the system's programs, the tools of the PATH and declared paths read-only. They
 * write only to the workspace, see nothing else of the machine, have no network unless it is granted, and end with
 * keepup. Every `.git` in the workspace and its targets are read-only, except those that a command makes itself; its
 * result names them. No command can leave a set-user-ID file. Rejects with SandboxUnavailable if bubblewrap does not
 * work.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const workspace = await realpath(options.workspace)
  const found = await foundBubblewrap({ ...options, workspace })
  const { dataFolder, driverId = '', warn = () => {} } = options
  const registry = dataFolder === undefined ? null : processRegistry(dataFolder, driverId)
  const machine = await machineOf(options.env ?? process.env, workspace)
  const filter = options.filter === undefined ? systemCallFilter() : options.filter
  const confined = { ...options, ...found, workspace, registry, machine, filter }
  if (confined.filter === null) warn(UNFILTERED)
  const repositories = userRepositories(workspace)
  const execIn =
    (grouped: boolean): Sandbox['exec'] =>
    async (command, ...rest) => {
      const warnings: string[] = []
      const tell = (text: string) => warnings.push(text)
      try {
        const result = await repositories.around(
          (theirs) =>
            withoutSetId(
              { ...theirs, filter },
              () => confine({ ...confined, ...theirs, grouped }, command, ...rest),
              tell,
            ),
          tell,
        )
        return warnings.length === 0 ? result : { ...result, warnings }
      } catch (error) {
        for (const text of warnings) warn(text)
        throw error
      }
    }
  const bare =
    (grouped: boolean): Sandbox['exec'] =>
    (...call) =>
      holding(workspace, (folder) => confine({ ...confined, folder, readOnly: [], sockets: [], grouped }, ...call))
  if (isExempt()) {
    if (canLimit() && (await works(bare(true)))) return { confined: true, exec: execIn(true) }
    warn(UNLIMITED)
  }
  await probe(bare(false))
  return { confined: true, exec: execIn(false) }
}

const works = (exec: Sandbox['exec']): Promise<boolean> =>
  probe(exec).then(
    () => true,
    () => false,
  )

async function probe(exec: Sandbox['exec']): Promise<void> {
  const command: Command = { argv: ['true'], cwd: '.', timeoutMs: TRIAL_MS, network: false }
  const result = await exec(command, new AbortController().signal).catch((cause: Error) => {
    throw new SandboxUnavailable(cause.message, { cause })
  })
  if (result.exitCode !== 0)
    throw new SandboxUnavailable(`a trial ended with ${result.exitCode}: ${result.stderr.trim()}`)
}

const confine = (options: Confinement, ...call: Parameters<Sandbox['exec']>): Promise<CommandResult> =>
  startConfined(
    () => confinedArguments({ ...options, network: call[0].network }),
    (confined) => run(options, confined, ...call),
  )

async function run(
  options: Confinement,
  { isolation, mounts, guard }: ConfinedArguments,
  ...[command, signal, onOutput, filter]: Parameters<Sandbox['exec']>
): Promise<CommandResult> {
  const ours = options.env ?? process.env
  const cwd = workingFolder(options.workspace, command.cwd)
  const own = ['--json-status-fd', String(STATUS), '--chdir', cwd]
  const { processes = MAX_PROCESSES } = options
  const shell = ['--', ...guard, '/bin/sh', '-c', withProcessLimit(processes), 'sh', ...command.argv]
  const id = randomUUID()
  const group = options.grouped ? makeLimit(id, processes) : null
  if (options.grouped && group === null) throw new ToolError('EXECUTION_FAILED', UNLIMITED, { beforeEffect: true })
  const entry = options.registry?.begin(id, group)
  const status: Status = { child: null, exited: false }
  const args = [
    ...isolation,
    ...filterArguments(options.filter),
    '--args',
    String(VARIABLES),
    ...mounts,
    ...own,
    ...shell,
  ]
  const variables = commandEnvironment(ours, homeOf(ours), searchPath(ours), command.env)
  let ended = false
  let refused = false
  const running = runProcess({
    ...(group === null
      ? { file: options.bwrap, args }
      : { file: '/bin/sh', args: ['-c', ENTER, 'sh', doorOf(group), options.bwrap, ...args] }),
    options: { cwd: '/', env: { [MARKER]: id } },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', options.filter === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    timeoutMs: command.timeoutMs,
    graceMs: options.graceMs ?? KILL_AFTER_MS,
    signal,
    onOutput,
    filter,
    onSpawn: (child) => {
      entry?.started(child.pid as number)
      giveFilter(child, options.filter)
      const refusal = (child.stdio as readonly unknown[])[REFUSED] as Readable
      refusal.on('data', () => {
        refused = true
      })
      giveTo(child, VARIABLES, variableArguments(variables))
      // The status may arrive after bubblewrap was ended. The child must then be ended too.
      readStatus(child, status, () => ended && endInner(status, id))
    },
    stop: (child, hard) => {
      ended ||= hard
      stop(child, hard, status)
      if (hard) endInner(status, id)
    },
  })
  const result = await running.finally(async () => {
    if (group !== null) await removeCgroup(group)
    entry?.ended()
  })
  if (refused) throw replaced(options.workspace)
  const killed = result.timedOut || result.signal !== null
  if (status.exited || killed) return result
  throw new ToolError('EXECUTION_FAILED', `the sandbox could not start the command: ${result.stderr.trim()}`, {
    beforeEffect: true,
  })
}

/**
 * Sends SIGTERM to the group inside the sandbox, because SIGTERM would end bubblewrap and with it the command at once.
 * Sends SIGKILL to bubblewrap, whose death ends every process of the namespace.
 */
function stop(child: ChildProcess, hard: boolean, { child: inner }: Status): void {
  if (child.pid === undefined) return
  if (!hard && inner !== null && child.exitCode === null && child.signalCode === null) signalTo(-inner, 'SIGTERM')
  else signalTo(-child.pid, 'SIGKILL')
}

/**
 * Kills the first process of the namespace, which ends all others. The death of bubblewrap has this effect only after
 * that process has requested it. If bubblewrap dies earlier, the process waits for it for ever. The marker check
 * excludes a later process with the same pid.
 */
function endInner({ child }: Status, id: string): void {
  if (child !== null && hasInEnvironment(child, `${MARKER}=${id}`)) signalTo(child, 'SIGKILL')
}

/** The variables as bubblewrap's arguments. */
function variableArguments(variables: Readonly<Record<string, string>>): string {
  const set = Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value])
  return ['--unsetenv', MARKER, ...set].map((arg) => `${arg}\0`).join('')
}
