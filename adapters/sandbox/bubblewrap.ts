import { type ChildProcess, execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import type { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { ToolError } from '../../domain/agent/errors.ts'
import type { Command, CommandResult, Sandbox } from '../../domain/ports.ts'
import { liesIn } from '../files/inside.ts'
import { findProgram } from '../programs/programs.ts'
import { inWorkspaces } from '../programs/workspaces.ts'
import { doorOf, removeCgroup } from './cgroup.ts'
import { commandEnvironment, searchPath } from './environment.ts'
import { SandboxUnavailable } from './error.ts'
import { mountArguments } from './mounts.ts'
import { GRACE_MS, runProcess, signalTo } from './process.ts'
import { canLimit, isExempt, MAX_PROCESSES, makeLimit } from './process-limit.ts'
import { hasInEnvironment } from './process-table.ts'
import { MARKER, type ProcessRegistry, processRegistry } from './registry.ts'
import { type Protected, userRepositories } from './repositories.ts'
import { readStatus, STATUS, type Status } from './status.ts'
import { workingFolder } from './working-folder.ts'

export interface SandboxOptions {
  /** Real path of the workspace: the only place where commands can leave anything. */
  readonly workspace: string
  /** Paths that commands must not see: the data folder, the vault, tokens. Missing paths are skipped. */
  readonly hide: readonly string[]
  /** Our environment. Commands get a few variables of it. Default: the environment of the process. */
  readonly env?: NodeJS.ProcessEnv
  readonly graceMs?: number
  /** Absolute path of bubblewrap. Default: the first one that no agent can write. */
  readonly bwrap?: string
  /** Records running commands in this data folder, for `reap`. Programs in its workspaces are not trusted. */
  readonly dataFolder?: string
  /** The agent and driver that run the commands. Default: none. */
  readonly driverId?: string
  /** The most processes of a command. */
  readonly processes?: number
  /** Receives warnings about the confinement. */
  readonly warn?: (text: string) => void
}

interface Confinement extends SandboxOptions, Protected {
  readonly bwrap: string
  /** This bubblewrap can limit its folders in memory. */
  readonly bounds: boolean
  /** Each command has a control group with a limit of processes. */
  readonly grouped: boolean
  readonly registry: ProcessRegistry | null
}

/** The descriptor for the command's variables: bubblewrap itself must not start with them. */
const VARIABLES = 4
const TRIAL_MS = 10_000
const ISOLATION = (
  '--unshare-user-try --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try ' +
  '--die-with-parent --new-session --cap-drop ALL'
).split(' ')

/** Limits the processes of all users except root. dash has `-p` for bash's `-u`. A stricter limit of the user stays. */
const limited = (most: number) => `ulimit -u ${most} 2>/dev/null || ulimit -p ${most} 2>/dev/null; exec "$@"`
/** Joins the control group of the first argument. */
const ENTER = 'echo $$ > "$1" || exit 125; shift; exec "$@"'

export const UNLIMITED =
  'commands of root can start any number of processes here: Linux limits them only in a control group with the "pids" ' +
  'controller, which cannot be made; run keepup as an ordinary user, or where it may make such groups'

/**
 * A sandbox of bubblewrap. Commands see the machine read-only, write only to the workspace, see neither homes nor hidden paths,
 * have no network unless it is granted, and end with keepup. Every `.git` in the workspace and its targets are read-only,
 * except those that a command makes itself. Rejects with SandboxUnavailable where bubblewrap does not work.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (process.platform !== 'linux') throw new SandboxUnavailable(`bubblewrap needs Linux, this is ${process.platform}`)
  const workspace = await realpath(options.workspace)
  const bwrap = options.bwrap ?? findBubblewrap(workspace, options)
  if (!existsSync(bwrap)) throw new SandboxUnavailable('bubblewrap (bwrap) was not found')
  const hidden = new Set(await Promise.all(options.hide.filter(existsSync).map((path) => realpath(path))))
  // A path below another hidden path needs no mount of its own.
  const hide = [...hidden].filter((path) => ![...hidden].some((other) => other !== path && liesIn(other, path)))
  const covering = hide.find((path) => liesIn(path, workspace))
  if (covering !== undefined) throw new SandboxUnavailable(`the workspace ${workspace} lies in the hidden ${covering}`)
  const bounds = await promisify(execFile)(bwrap, ['--help'], { env: {}, timeout: TRIAL_MS }).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`.includes('--size'),
    () => false,
  )
  const { dataFolder, driverId = '', warn = () => {} } = options
  const registry = dataFolder === undefined ? null : processRegistry(dataFolder, driverId)
  const confined = { ...options, workspace, hide, bwrap, bounds, registry }
  const repositories = userRepositories(workspace, warn)
  const execIn =
    (grouped: boolean): Sandbox['exec'] =>
    (command, ...rest) =>
      repositories.around((theirs) => confine({ ...confined, ...theirs, grouped }, command, ...rest))
  if (isExempt()) {
    const exec = execIn(true)
    if (canLimit() && (await works(exec))) return { confined: true, exec }
    warn(UNLIMITED)
  }
  const exec = execIn(false)
  await probe(exec)
  return { confined: true, exec }
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

function findBubblewrap(workspace: string, { env, dataFolder }: SandboxOptions): string {
  try {
    return findProgram('bwrap', { ...(env && { env }), writable: inWorkspaces(workspace, dataFolder) })
  } catch (error) {
    throw new SandboxUnavailable(`bubblewrap: ${(error as Error).message}`, { cause: error })
  }
}

async function confine(
  options: Confinement,
  ...[command, signal, onOutput, filter]: Parameters<Sandbox['exec']>
): Promise<CommandResult> {
  const ours = options.env ?? process.env
  const home = ours.HOME || homedir()
  const path = searchPath(ours)
  const mounts = mountArguments({
    home,
    otherHomes: systemHomes(),
    node: process.execPath,
    path,
    workspace: options.workspace,
    readOnly: options.readOnly,
    links: options.links,
    hide: options.hide,
    bounds: options.bounds,
    network: command.network,
    root: process.getuid?.() === 0,
  })
  const cwd = workingFolder(options.workspace, command.cwd)
  const own = ['--json-status-fd', String(STATUS), '--chdir', cwd, ...(command.network ? [] : ['--unshare-net'])]
  const { processes = MAX_PROCESSES } = options
  const shell = ['--', '/bin/sh', '-c', limited(processes), 'sh', ...command.argv]
  const id = randomUUID()
  const group = options.grouped ? makeLimit(id, processes) : null
  if (options.grouped && group === null) throw new ToolError('EXECUTION_FAILED', UNLIMITED, { beforeEffect: true })
  const entry = options.registry?.begin(id, group)
  const status: Status = { child: null, exited: false }
  const args = [...ISOLATION, '--args', String(VARIABLES), ...mounts, ...own, ...shell]
  const variables = commandEnvironment(ours, home, path, command.env)
  let ended = false
  const running = runProcess({
    ...(group === null
      ? { file: options.bwrap, args }
      : { file: '/bin/sh', args: ['-c', ENTER, 'sh', doorOf(group), options.bwrap, ...args] }),
    options: { cwd: '/', env: { [MARKER]: id } },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    timeoutMs: command.timeoutMs,
    graceMs: options.graceMs ?? GRACE_MS,
    signal,
    onOutput,
    filter,
    onSpawn: (child) => {
      entry?.started(child.pid as number)
      giveVariables(child, variables)
      // The status may arrive after bubblewrap was ended. Then the child must be ended too.
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
  const killed = result.timedOut || result.signal !== null
  if (status.exited || killed) return result
  throw new ToolError('EXECUTION_FAILED', `the sandbox could not start the command: ${result.stderr.trim()}`, {
    beforeEffect: true,
  })
}

/** The home in the system's list of users. A user without an entry, as in containers, has none. */
function systemHomes(): string[] {
  try {
    return [userInfo().homedir]
  } catch {
    return []
  }
}

/**
 * Sends SIGTERM to the group inside, because bubblewrap itself would die of it and end the command at once. Sends SIGKILL to
 * bubblewrap, whose death ends every process of the namespace.
 */
function stop(child: ChildProcess, hard: boolean, { child: inner }: Status): void {
  if (child.pid === undefined) return
  if (!hard && inner !== null && child.exitCode === null && child.signalCode === null) signalTo(-inner, 'SIGTERM')
  else signalTo(-child.pid, 'SIGKILL')
}

/**
 * Ends the first process of the namespace, and so all of them. The death of bubblewrap does this only after that process has
 * asked for it; an earlier one would wait for bubblewrap for ever. The marker makes sure that the id is still its own.
 */
function endInner({ child }: Status, id: string): void {
  if (child !== null && hasInEnvironment(child, `${MARKER}=${id}`)) signalTo(child, 'SIGKILL')
}

function giveVariables(child: ChildProcess, variables: Readonly<Record<string, string>>): void {
  const pipe = child.stdio[VARIABLES] as Writable
  pipe.on('error', () => {})
  const set = Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value])
  pipe.end(['--unsetenv', MARKER, ...set].map((arg) => `${arg}\0`).join(''))
}
