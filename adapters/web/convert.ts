import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../../domain/calls/errors.ts'
import type { Conversion, ConversionTask } from './conversion.ts'

export interface ConvertLimits {
  /** The time limit for one document, from the start of the process. In ms. */
  readonly timeMs: number
  /**
   * The limit of the process's resident memory, in bytes. Outside Linux the limit applies only to its JavaScript heap.
   */
  readonly memoryBytes: number
  /** The longest text to keep, in UTF-8 bytes. */
  readonly maxTextBytes: number
}

export const CONVERT_LIMITS: ConvertLimits = {
  timeMs: 15_000,
  memoryBytes: 512 * 2 ** 20,
  maxTextBytes: 8 * 2 ** 20,
}

/** The exit code for an unreadable document. Node itself exits with other codes. */
const INVALID = 2
/** The interval of checks of the process's memory, in ms. */
const WATCH_MS = 25

const MODULES = { html: import.meta.resolve('@mdream/js'), pdf: import.meta.resolve('unpdf') }

/**
 * Converts HTML (as UTF-8) to Markdown, or a PDF to text, in a separate process that may read only its program. Rejects
 * with ToolError EXECUTION_FAILED if the document cannot be read within the limits, and with the signal's reason when
 * aborted.
 */
export async function convert(
  document: Pick<Conversion, 'kind' | 'bytes' | 'base'>,
  signal: AbortSignal,
  limits: ConvertLimits = CONVERT_LIMITS,
  modules: Conversion['modules'] = MODULES,
): Promise<string> {
  signal.throwIfAborted()
  const { kind, base, bytes } = document
  const { maxTextBytes } = limits
  const child = start({ kind, base, modules, maxTextBytes, invalidExit: INVALID }, limits)
  const pieces: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece))
  // The process may end before it has read the whole input. Only its exit code matters.
  child.stdin.on('error', () => {})
  child.stdin.end(bytes)
  return new Promise<string>((resolve, reject) => {
    let stopped: 'time' | 'memory' | null = null
    const stop = (why: typeof stopped) => {
      stopped ??= why
      child.kill('SIGKILL')
    }
    const abort = () => stop(null)
    const timer = setTimeout(() => stop('time'), limits.timeMs)
    const watch = setInterval(() => residentBytes(child.pid) > limits.memoryBytes && stop('memory'), WATCH_MS)
    signal.addEventListener('abort', abort, { once: true })
    const settle = (end: () => void) => {
      clearTimeout(timer)
      clearInterval(watch)
      signal.removeEventListener('abort', abort)
      end()
    }
    child.on('error', (cause) => settle(() => reject(failed(`no document can be read: ${cause.message}`, cause))))
    child.on('close', (code) =>
      settle(() => {
        if (signal.aborted) reject(signal.reason)
        else if (code === 0) resolve(textOf(Buffer.concat(pieces), limits))
        else reject(failed(whyOf(document, code === INVALID ? 'invalid' : (stopped ?? 'memory'), limits)))
      }),
    )
  })
}

/** Disables core dumps. The kernel ends the process after its CPU time limit, even if keepup has died. */
const BOUNDED = 'ulimit -c 0; ulimit -t "$1"; shift; exec "$@"'

function start(
  task: ConversionTask,
  { timeMs, memoryBytes }: ConvertLimits,
): ChildProcessByStdio<Writable, Readable, null> {
  const file = import.meta.url.endsWith('.ts') ? './convert-process.ts' : './convert-process.js'
  const readable = [new URL('.', import.meta.url).href, ...Object.values(MODULES).map(packageFolder)]
  const allowed = readable.map((folder) => `--allow-fs-read=${fileURLToPath(folder)}`)
  const heap = `--max-old-space-size=${Math.ceil(memoryBytes / 2 ** 20)}`
  const node = [process.execPath, '--permission', ...allowed, heap, fileURLToPath(new URL(file, import.meta.url))]
  const seconds = String(Math.ceil(timeMs / 1_000) + 1)
  // Pass no variables: the process needs none, and a hostile document could disclose them.
  return spawn('/bin/sh', ['-c', BOUNDED, 'sh', seconds, ...node, JSON.stringify(task)], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}

/** `…/node_modules/name/dist/index.mjs` → `…/node_modules/name/`. */
const packageFolder = (module: string): string =>
  /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(module)?.[0] ?? new URL('.', module).href

/** The resident memory of a process. 0: the process has ended, or the system does not report it. */
function residentBytes(pid: number | undefined): number {
  try {
    const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return Number(kilobytes ?? 0) * 1_024
  } catch {
    return 0
  }
}

function whyOf(
  { kind, bytes }: Pick<Conversion, 'kind' | 'bytes'>,
  why: 'invalid' | 'time' | 'memory',
  limits: ConvertLimits,
): string {
  const what = kind === 'pdf' ? 'the PDF' : 'the HTML page'
  if (why === 'invalid') return `${what} is damaged or protected by a password`
  if (why === 'time') return `${what} (${bytes.length} bytes) could not be read within ${limits.timeMs} ms`
  return `${what} (${bytes.length} bytes) needs more than ${limits.memoryBytes} bytes of memory to be read`
}

const failed = (message: string, cause?: unknown) => new ToolError('EXECUTION_FAILED', message, { cause })

function textOf(bytes: Buffer, { maxTextBytes }: ConvertLimits): string {
  const text = new TextDecoder().decode(bytes)
  return bytes.length < maxTextBytes
    ? text
    : `${text}\n[the text is longer; only its first ${maxTextBytes} bytes are kept]`
}
