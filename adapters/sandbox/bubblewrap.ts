import { type ChildProcess, execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { ToolError } from '../../domain/agent/errors.ts'
import type { Command, CommandResult, Sandbox } from '../../domain/ports.ts'
import { commandEnvironment, searchPath } from './environment.ts'
import { SandboxUnavailable } from './error.ts'
import { holds, mountArguments } from './mounts.ts'
import { GRACE_MS, runProcess, signalTo } from './process.ts'
import { type Protected, userRepositories } from './repositories.ts'
import { workingFolder } from './working-folder.ts'

export interface SandboxOptions {
  /** Real path of the workspace: the only place where commands can leave anything. */
  readonly workspace: string
  /** Paths that commands must not see: the data folder, the vault, tokens. Missing ones are skipped. */
  readonly hide: readonly string[]
  /** Our environment; commands get a few variables of it. Default: the process's. */
  readonly env?: NodeJS.ProcessEnv
  readonly graceMs?: number
  /** Default: the first of the usual places, then of the PATH. */
  readonly bwrap?: string
  /** Gets what people should know of the confinement. */
  readonly warn?: (text: string) => void
}

interface Confinement extends SandboxOptions, Protected {
  readonly bwrap: string
  /** This bubblewrap can bound what it keeps in memory. */
  readonly bounds: boolean
}

/** How bubblewrap tells what became of the command; the number is a file descriptor. */
const STATUS = 3
const ISOLATION = (
  '--unshare-user-try --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try ' +
  '--die-with-parent --new-session --cap-drop ALL'
).split(' ')

/**
 * The most processes (and threads) of a user in the sandbox. Memory is not bounded this way: programs reserve far more
 * than they use.
 */
const MAX_PROCESSES = 8_192
/** dash calls `-p` what bash calls `-u`; a stricter limit of the user's own stays. */
const START = `ulimit -u ${MAX_PROCESSES} 2>/dev/null || ulimit -p ${MAX_PROCESSES} 2>/dev/null; exec "$@"`

/**
 * Commands confined by bubblewrap: they see the machine read-only, write to the workspace only, see neither homes nor
 * what is hidden, have no network unless granted, and end with us. A `.git` in the workspace, wherever it lies, and what it
 * names can be read only; one that a command makes itself is as little to be trusted as all that it leaves. Rejects with
 * SandboxUnavailable where that fails.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (process.platform !== 'linux') throw new SandboxUnavailable(`bubblewrap needs Linux, this is ${process.platform}`)
  const bwrap = options.bwrap ?? findBubblewrap(options.env ?? process.env)
  if (bwrap === null || !existsSync(bwrap)) throw new SandboxUnavailable('bubblewrap (bwrap) was not found')
  const workspace = await realpath(options.workspace)
  const hidden = new Set(await Promise.all(options.hide.filter(existsSync).map((path) => realpath(path))))
  // In what is hidden there is nothing to hide any more.
  const hide = [...hidden].filter((path) => ![...hidden].some((other) => other !== path && holds(other, path)))
  const covering = hide.find((path) => holds(path, workspace))
  if (covering !== undefined) throw new SandboxUnavailable(`the workspace ${workspace} lies in the hidden ${covering}`)
  const bounds = await promisify(execFile)(bwrap, ['--help']).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`.includes('--size'),
    () => false,
  )
  const confined = { ...options, workspace, hide, bwrap, bounds }
  const repositories = userRepositories(workspace, options.warn ?? (() => {}))
  const exec: Sandbox['exec'] = (command, ...rest) =>
    repositories.around((theirs) => confine({ ...confined, ...theirs }, command, ...rest))
  await probe(exec)
  return { confined: true, exec }
}

async function probe(exec: Sandbox['exec']): Promise<void> {
  const command: Command = { argv: ['true'], cwd: '.', timeoutMs: 10_000, network: false }
  const result = await exec(command, new AbortController().signal).catch((cause: Error) => {
    throw new SandboxUnavailable(cause.message, { cause })
  })
  if (result.exitCode !== 0)
    throw new SandboxUnavailable(`a trial ended with ${result.exitCode}: ${result.stderr.trim()}`)
}

function findBubblewrap(env: NodeJS.ProcessEnv): string | null {
  // The usual places first: a PATH may name folders that a workspace fills.
  const folders = ['/usr/bin', '/usr/local/bin', '/bin', ...searchPath(env)]
  return folders.map((folder) => join(folder, 'bwrap')).find((path) => existsSync(path)) ?? null
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
  const shell = ['--', '/bin/sh', '-c', START, 'sh', ...command.argv]
  const status = { child: null as number | null, exited: false }
  const result = await runProcess({
    file: options.bwrap,
    args: [...ISOLATION, ...mounts, ...own, ...shell],
    options: {
      cwd: '/',
      env: commandEnvironment(ours, home, path, command.env),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeoutMs: command.timeoutMs,
    graceMs: options.graceMs ?? GRACE_MS,
    signal,
    onOutput,
    filter,
    onSpawn: (child) => readStatus(child, (news) => Object.assign(status, news)),
    stop: (child, hard) => stop(child, hard, status.child),
  })
  const killed = result.timedOut || result.signal !== null
  if (status.exited || killed) return result
  throw new ToolError('EXECUTION_FAILED', `the sandbox could not start the command: ${result.stderr.trim()}`, {
    beforeEffect: true,
  })
}

/** A user without an entry in the system's list (containers have such) has no further home. */
function systemHomes(): string[] {
  try {
    return [userInfo().homedir]
  } catch {
    return []
  }
}

/**
 * SIGTERM goes to the group inside; bubblewrap itself would die of it and take the command with it at once. SIGKILL goes
 * to bubblewrap, whose death ends the process namespace: nothing in it survives.
 */
function stop(child: ChildProcess, hard: boolean, inner: number | null): void {
  if (child.pid === undefined) return
  if (!hard && inner !== null && child.exitCode === null && child.signalCode === null) signalTo(-inner, 'SIGTERM')
  else signalTo(-child.pid, 'SIGKILL')
}

function readStatus(child: ChildProcess, tell: (news: { child?: number; exited?: boolean }) => void): void {
  let text = ''
  const pipe = child.stdio[STATUS] as Readable
  pipe.on('error', () => {})
  pipe.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
    const inner = /"child-pid":\s*(\d+)/.exec(text)?.[1]
    if (inner !== undefined) tell({ child: Number(inner) })
    if (text.includes('"exit-code"')) tell({ exited: true })
  })
}
