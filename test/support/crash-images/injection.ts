import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RecordedCall, Recording } from './recording.ts'

/**
 * A system call of a program: the n-th of its name in a thread, from 1. Writes count on their file alone, because a
 * thread also writes to pipes; other calls count on all files, because temporary names differ between two runs.
 */
export interface CallPoint extends Pick<RecordedCall, 'call' | 'path' | 'nth' | 'earlier' | 'half'> {}

const isWrite = (call: string): boolean => call === 'pwrite64' || call === 'write'

/**
 * What happens instead of the call. `kill`: the process ends before the call. `nothing`: a write of 0 bytes. `short`: no
 * file may grow beyond the half of the write, so the write is short and the next one fails with EFBIG.
 */
export const CALL_FAULTS = {
  kill: 'signal=KILL',
  EIO: 'error=EIO',
  ENOSPC: 'error=ENOSPC',
  nothing: 'retval=0',
  short: null,
} as const
export type CallFault = keyof typeof CALL_FAULTS

/** A fault of a call. */
export interface PlannedFault {
  readonly point: CallPoint
  readonly fault: CallFault
}

/**
 * Every fault of every call of a recording. Equal ones are planned once: short writes at the same size, the same call of
 * another thread, and kills between which no file changes, of which the last follows the most acknowledgements.
 */
export function faultsOf({ calls }: Pick<Recording, 'calls'>): PlannedFault[] {
  const planned = new Map<string, PlannedFault>()
  for (const point of callPointsOf(calls)) {
    const { call, path, nth, earlier, half } = point
    const plan = (fault: CallFault, key: unknown[]) => {
      planned.set(JSON.stringify([fault, ...key]), { point, fault })
    }
    plan('kill', [earlier])
    for (const error of ['EIO', 'ENOSPC'] as const) plan(error, [call, isWrite(call) ? path : '', nth])
    if (!isWrite(call)) continue
    plan('nothing', [path, nth])
    if (half !== null) plan('short', [half])
  }
  return [...planned.values()]
}

/** Every call of a recording that changes a file or makes a change durable. */
function callPointsOf(calls: Recording['calls']): CallPoint[] {
  const counts = new Map<string, number>()
  return calls.map((one) => {
    if (!isWrite(one.call)) return one
    const key = `${one.path} ${one.thread}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return { ...one, nth: counts.get(key)! }
  })
}

export interface Injected {
  /** The exit code. Null: a signal ended the process. */
  readonly code: number | null
  /** The lines of stdout. */
  readonly said: readonly string[]
  readonly stderr: string
  /** Whether the program made the call. Null: a limit on file sizes does not tell. Temporary names and the calls of a pool of threads differ between two runs. */
  readonly isMet: boolean | null
}

interface Options {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** Runs a program whose call at this point meets a fault. */
export async function inject(
  command: readonly string[],
  { point: { call, path, nth, half }, fault }: PlannedFault,
  options: Options,
): Promise<Injected> {
  const how = CALL_FAULTS[fault]
  // The kernel refuses writes beyond the limit, and the program says so or writes the rest to another place.
  if (how === null) return { ...(await runToEnd(['prlimit', `--fsize=${half}`, ...command], options)), isMet: null }
  const folder = mkdtempSync(join(tmpdir(), 'keepup-strace-'))
  const trace = join(folder, 'trace')
  const what = ['-e', `trace=${call}`, '-e', `inject=${call}:${how}:when=${nth}`]
  const only = isWrite(call) ? ['-P', path] : []
  try {
    const ended = await runToEnd(
      ['strace', '-f', '--seccomp-bpf', '-qq', '-o', trace, ...only, ...what, ...command],
      options,
    )
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
