import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Confinement } from '../../../domain/external/confinement.ts'
import { AgentError, CANCELLED, NOT_TERMINATED } from '../../../domain/external/errors.ts'
import type { ExitStatus } from '../../../domain/external/exit-status.ts'
import type { AgentRunRequest } from '../../../domain/external/request.ts'
import type { BackendRun } from '../../../domain/ports/external.ts'
import { SandboxUnavailable } from '../../sandbox/error.ts'
import { processRegistry } from '../../sandbox/registry.ts'
import { removeScratch } from '../../sandbox/scratch.ts'
import { type ConfinementRules, type Confining, confine, type OwnPlaces } from './confine.ts'
import { type Allowed, agentEnvironment } from './environment.ts'
import { programOf } from './find-agent.ts'
import { namespaces } from './namespace.ts'
import { type AgentProcess, startProcess } from './process.ts'

export interface HarnessOptions {
  /** The working folder of requests that name none. */
  readonly workspace: string
  /** keepup's environment. Agents get a few of its variables. Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv
  readonly allowed?: Allowed
  /**
   * The folder of the process registry. After a crash, `reap` of adapters/sandbox/registry.ts ends the agents in it.
   */
  readonly dataFolder?: string
  readonly driverId?: string
  /** The rules that confine an agent in a working folder. Absent: agents have the user's rights. */
  readonly confinement?: (cwd: string) => Promise<ConfinementRules>
  /** The absolute path of bubblewrap. Default: the first bubblewrap that no agent can write. */
  readonly bwrap?: string
  /** False: use a process group even if a process namespace is available. */
  readonly namespace?: boolean
  /** The absolute path of the program. Default: the first program on the PATH. */
  readonly program?: string
  /**
   * `graceMs`: the time from SIGTERM to SIGKILL. `giveUpMs`: the time from SIGKILL until the run fails as "failed to
   * terminate". In ms. Default: 5,000 each.
   */
  readonly graceMs?: number
  readonly giveUpMs?: number
}

/** The process that a backend asks the harness to start. */
interface Start {
  readonly program: string
  readonly args: readonly string[]
  readonly stdin: boolean
  readonly passes: readonly string[]
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Paths of the agent's own state, which the sandbox keeps. */
  readonly keeps?: OwnPlaces | undefined
  /** Paths of this run that the agent must see when it is confined. */
  readonly readable?: readonly string[]
}

/**
 * Runs an agent's process and resolves with its exit status after the process and all of its descendants have ended.
 * `converse` reads its lines. The harness ends the process on abort, at the time limit, or when `converse` fails.
 * Rejects with AgentError `Backend` (not started, "cancelled", "timed out", "failed to terminate"), or with the error
 * of `converse`.
 */
export async function runAgent(
  options: HarnessOptions,
  start: Start,
  request: AgentRunRequest,
  run: BackendRun,
  converse: (process: AgentProcess) => Promise<void>,
): Promise<ExitStatus> {
  const cwd = workingFolder(request.workingDir ?? options.workspace)
  const scratch = mkdtempSync(join(tmpdir(), 'keepup-agent-'))
  try {
    const process_ = await started(options, start, request, run, [cwd, scratch])
    return await attended(process_, request, run, converse)
  } finally {
    removeScratch(scratch)
  }
}

async function started(
  options: HarnessOptions,
  start: Start,
  request: AgentRunRequest,
  { signal, confined }: Pick<BackendRun, 'signal' | 'confined'>,
  [cwd, scratch]: readonly [string, string],
): Promise<AgentProcess> {
  const { env: ours = process.env, dataFolder, driverId = '' } = options
  const { args, stdin, passes, env: set } = start
  const program = programOf(start.program, options, cwd)
  const confining = confined === false ? null : await confiningOf(options, start, request, { program, cwd, scratch })
  const inside = confining && (await confine(confining).catch(notConfined))
  const bwrap = inside?.bwrap ?? (options.namespace === false ? null : await namespaces())
  if (signal.aborted) throw new AgentError('Backend', CANCELLED)
  return startProcess({
    program,
    args,
    cwd: inside?.cwd ?? cwd,
    scratch,
    env: agentEnvironment(ours, passes, scratch, set, request.env),
    stdin,
    bwrap,
    confining: inside?.args,
    guard: inside?.guard,
    filter: inside?.filter,
    graceMs: options.graceMs,
    giveUpMs: options.giveUpMs,
    registry: dataFolder === undefined ? null : processRegistry(dataFolder, driverId),
  })
}

/** Null: the options do not confine agents. */
async function confiningOf(
  options: HarnessOptions,
  { env: set, keeps, readable = [] }: Pick<Start, 'env' | 'keeps' | 'readable'>,
  { env: asked, extensions }: AgentRunRequest,
  { program, cwd, scratch }: { readonly program: string; readonly cwd: string; readonly scratch?: string },
): Promise<Confining | null> {
  if (options.confinement === undefined) return null
  const { env = process.env, dataFolder, bwrap } = options
  const dirs = extensions?.['agent_api.exec.add_dirs.v1']?.dirs ?? []
  const rules = await options.confinement(cwd)
  const writable = [...dirs, ...(scratch === undefined ? [] : [scratch])]
  const home = asked?.HOME ?? set?.HOME
  return { rules, program, cwd, keeps, writable, readable, env, home, dataFolder, bwrap }
}

/** The log already says that the run is confined, so the run must not continue unconfined. */
function notConfined(cause: Error): never {
  if (cause instanceof AgentError) throw cause
  throw new AgentError('Backend', `the agent cannot be confined: ${cause.message}`, { cause })
}

/** Whether the process of a request would be confined. */
export async function confinementOf(
  options: HarnessOptions,
  start: Pick<Start, 'program' | 'keeps'>,
  request: AgentRunRequest,
): Promise<Confinement> {
  if (options.confinement === undefined) return { confined: false, reason: 'the caller confines no agents' }
  try {
    const cwd = workingFolder(request.workingDir ?? options.workspace)
    const program = programOf(start.program, options, cwd)
    const confining = await confiningOf(options, start, request, { program, cwd })
    if (confining !== null) await confine(confining)
    return { confined: true }
  } catch (error) {
    if (error instanceof SandboxUnavailable) return { confined: false, reason: error.why }
    // If the program or the folder is missing, nothing starts. The run's handle reports the error.
    if (error instanceof AgentError) return { confined: true }
    throw error
  }
}

async function attended(
  process_: AgentProcess,
  { timeoutMs }: AgentRunRequest,
  { signal }: BackendRun,
  converse: (process: AgentProcess) => Promise<void>,
): Promise<ExitStatus> {
  let ended: string | null = null
  let exit: ExitStatus | null = null
  const end = (why: string) => {
    if (exit !== null) return
    ended ??= why
    process_.end()
  }
  const cancel = () => end(CANCELLED)
  const limit = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs, `timed out after ${timeoutMs} ms`)
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  const exited = process_.exited.then((status) => {
    exit = status
    return status
  })
  // The promise is awaited only after the conversation has ended. A rejection before that must not be unhandled.
  exited.catch(() => undefined)
  try {
    await converse(process_).catch(async (fault) => {
      process_.end()
      await exited
      // An ended process may leave a partial line. That is not an error.
      if (ended === null) throw fault
    })
    const status = await exited
    if (ended !== null) throw new AgentError('Backend', ended, { exit: status })
    return status
  } catch (error) {
    throw (await settledAs(exited)) ?? error
  } finally {
    process_.close()
    clearTimeout(limit)
    signal.removeEventListener('abort', cancel)
  }
}

/**
 * A process that did not start or did not end is the cause, so its error goes before the errors that follow from it.
 */
async function settledAs(exited: Promise<ExitStatus>): Promise<unknown> {
  return exited.then(
    () => null,
    (error: Error) => (error.message === NOT_TERMINATED || error instanceof AgentError ? error : null),
  )
}

function workingFolder(path: string): string {
  try {
    if (statSync(path).isDirectory()) return path
  } catch {
    // The folder is missing or not accessible.
  }
  throw new AgentError('Backend', 'the working folder does not exist; make it, or name another one')
}
