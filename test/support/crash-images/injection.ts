import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Recording } from './recording.ts'

/**
 * A system call of a program: the n-th of its name in a thread, from 1. Writes count on their file alone, because a
 * thread also writes to pipes; other calls count on all files, because temporary names differ between two runs.
 */
export interface CallPoint {
  readonly call: string
  /** The file of the call. */
  readonly path: string
  readonly nth: number
}

const isWrite = (call: string): boolean => call === 'pwrite64' || call === 'write'

/** What happens instead of the call. `kill`: the process ends before the call. `nothing`: a write of 0 bytes. */
export const CALL_FAULTS = {
  kill: 'signal=KILL',
  EIO: 'error=EIO',
  ENOSPC: 'error=ENOSPC',
  nothing: 'retval=0',
} as const
export type CallFault = keyof typeof CALL_FAULTS

/** The faults that a call can meet. */
export function faultsOf({ call }: Pick<CallPoint, 'call'>): CallFault[] {
  return isWrite(call) ? ['kill', 'EIO', 'ENOSPC', 'nothing'] : ['kill', 'EIO', 'ENOSPC']
}

/** Every call of a recording that changes a file or makes a change durable. */
export function callPointsOf({ calls }: Pick<Recording, 'calls'>): CallPoint[] {
  const counts = new Map<string, number>()
  const points = calls.map(({ call, path, thread, nth }) => {
    if (!isWrite(call)) return { call, path, nth }
    const key = `${path} ${thread}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return { call, path, nth: counts.get(key)! }
  })
  return [...new Map(points.map((point) => [JSON.stringify(point), point])).values()]
}

export interface Injected {
  /** The exit code. Null: a signal ended the process. */
  readonly code: number | null
  /** The lines of stdout. */
  readonly said: readonly string[]
  readonly stderr: string
  /** Whether the program made the call. Temporary names and the calls of a pool of threads differ between two runs. */
  readonly isMet: boolean
}

interface Options {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** Runs a program whose call at this point meets a fault. */
export async function inject(
  command: readonly string[],
  { call, path, nth }: CallPoint,
  fault: CallFault,
  options: Options,
): Promise<Injected> {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-strace-'))
  const trace = join(folder, 'trace')
  const what = `inject=${call}:${CALL_FAULTS[fault]}:when=${nth}`
  const how = ['-f', '-qq', '-o', trace, ...(isWrite(call) ? ['-P', path] : []), '-e', `trace=${call}`, '-e', what]
  try {
    const ended = await runToEnd(['strace', ...how, ...command], options)
    const isMet = /\(INJECTED\)|killed by SIGKILL/.test(readFileSync(trace, 'utf8'))
    return { ...ended, isMet }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The longest time that a program may take, in ms. Then it is killed, and its code is null. */
const PATIENCE_MS = 120_000

/** Runs a program to its end. */
export async function runToEnd(
  [program, ...args]: readonly string[],
  options: Options,
): Promise<Omit<Injected, 'isMet'>> {
  const child = spawn(program!, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS })
  let [out, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const code = await new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done))
  return { code, said: out.split('\n').filter((line) => line !== ''), stderr }
}
