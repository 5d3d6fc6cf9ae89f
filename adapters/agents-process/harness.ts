import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentError, CANCELLED, NOT_TERMINATED } from '../../domain/external/errors.ts'
import type { ExitStatus } from '../../domain/external/exit-status.ts'
import type { AgentRunRequest } from '../../domain/external/request.ts'
import type { BackendRun } from '../../domain/ports/external.ts'
import { processRegistry } from '../sandbox/registry.ts'
import { removeScratch } from '../sandbox/scratch.ts'
import { type Allowed, agentEnvironment } from './environment.ts'
import { programOf } from './find-agent.ts'
import { type Confinement, namespaces } from './namespace.ts'
import { type AgentProcess, startProcess } from './process.ts'

export interface HarnessOptions {
  /** Where agents work whose request names no folder. */
  readonly workspace: string
  /** Our environment; agents get a few variables of it. Default: the process's. */
  readonly env?: NodeJS.ProcessEnv
  readonly allowed?: Allowed
  /** Running agents are written down there, for `reap` of adapters/sandbox/registry.ts after a crash. */
  readonly dataFolder?: string
  readonly driverId?: string
  /**
   * Confines agents with bubblewrap, each by its working folder; a run fails where that is not available. Absent: they may do
   * what the user may.
   */
  readonly confinement?: (cwd: string) => Promise<Confinement>
  /** False: a process group in the place of a process namespace, also where that is available. */
  readonly namespace?: boolean
  /** Absolute path of the program, in the place of the first on the PATH. */
  readonly program?: string
  /** From SIGTERM to SIGKILL, and from there until the process is said to have failed to terminate. In ms. Default: 5,000. */
  readonly graceMs?: number
  readonly giveUpMs?: number
}

/** The process that a backend asks the harness to start. */
export interface Start {
  readonly program: string
  readonly args: readonly string[]
  readonly stdin: boolean
  readonly passes: readonly string[]
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Folders of ours that it must see where temporary ones are hidden from it. */
  readonly readable?: readonly string[]
}

/**
 * Runs an agent's process from start to end, and gives its exit status when it has ended with all that it started.
 * `converse` reads its lines; the harness ends the process where that fails, on abort, and at the time limit. Rejects with
 * AgentError `Backend`: not started, "cancelled", "timed out", "failed to terminate"; or with what `converse` threw.
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
    const process_ = await started(options, start, request, run.signal, [cwd, scratch])
    return await attended(process_, request, run, converse)
  } finally {
    removeScratch(scratch)
  }
}

async function started(
  options: HarnessOptions,
  { program, args, stdin, passes, env: set, readable = [] }: Start,
  request: AgentRunRequest,
  signal: AbortSignal,
  [cwd, scratch]: readonly [string, string],
): Promise<AgentProcess> {
  const { env: ours = process.env, dataFolder, driverId = '', confinement } = options
  const bwrap = options.namespace === false && confinement === undefined ? null : await namespaces()
  if (bwrap === null && confinement !== undefined)
    throw new AgentError('Backend', 'agents cannot be confined here: install bubblewrap, or run them unconfined')
  const confined = await confinement?.(cwd)
  if (signal.aborted) throw new AgentError('Backend', CANCELLED)
  return startProcess({
    program: programOf(program, options, cwd),
    args,
    cwd,
    scratch,
    env: agentEnvironment(ours, passes, scratch, set, request.env),
    stdin,
    bwrap,
    confinement: confined && { ...confined, writable: [cwd, scratch, ...confined.writable, ...readable] },
    graceMs: options.graceMs,
    giveUpMs: options.giveUpMs,
    registry: dataFolder === undefined ? null : processRegistry(dataFolder, driverId),
  })
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
  // It is awaited only when the conversation has ended.
  exited.catch(() => undefined)
  try {
    await converse(process_).catch(async (fault) => {
      process_.end()
      await exited
      // A half line of an ended process is no fault.
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

/** A process that was not started, or did not end, is told before what followed from it. */
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
    // It is missing, or lies where we may not look.
  }
  throw new AgentError('Backend', 'the working folder does not exist; make it, or name another one')
}
