import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../../domain/calls/errors.ts'
import type { Conversion, Task } from './conversion.ts'

export interface ConvertLimits {
  /** For one document, from the start of the process. In ms. */
  readonly timeMs: number
  /** Resident memory of the process, where the system tells it (Linux); elsewhere only its JavaScript objects. In bytes. */
  readonly memoryBytes: number
  /** The part of the text that is kept, in UTF-8 bytes. */
  readonly maxTextBytes: number
}

export const CONVERT_LIMITS: ConvertLimits = {
  timeMs: 15_000,
  memoryBytes: 512 * 2 ** 20,
  maxTextBytes: 8 * 2 ** 20,
}

/** The exit code for a document that cannot be read; Node's own end with others. */
const INVALID = 2
/** Between two looks at the memory of the process. In ms. */
const WATCH_MS = 25

const MODULES = { html: import.meta.resolve('@mdream/js'), pdf: import.meta.resolve('unpdf') }

/**
 * HTML (as UTF-8) as Markdown, or a PDF as text, made by a process of its own that may read its program and nothing else.
 * Rejects with ToolError EXECUTION_FAILED for a document that cannot be read within the limits, and with the signal's
 * reason when aborted.
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
  // The process may end before it has read all; how it ends is what counts.
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

/** No core dump, and an end by the kernel after so many seconds of work, also where we are gone by then. */
const BOUNDED = 'ulimit -c 0; ulimit -t "$1"; shift; exec "$@"'

function start(task: Task, { timeMs, memoryBytes }: ConvertLimits): ChildProcessByStdio<Writable, Readable, null> {
  const file = import.meta.url.endsWith('.ts') ? './convert-process.ts' : './convert-process.js'
  const readable = [new URL('.', import.meta.url).href, ...Object.values(MODULES).map(packageFolder)]
  const allowed = readable.map((folder) => `--allow-fs-read=${fileURLToPath(folder)}`)
  const heap = `--max-old-space-size=${Math.ceil(memoryBytes / 2 ** 20)}`
  const node = [process.execPath, '--permission', ...allowed, heap, fileURLToPath(new URL(file, import.meta.url))]
  const seconds = String(Math.ceil(timeMs / 1_000) + 1)
  // No variable of ours: none of it is needed, and all of it could be told.
  return spawn('/bin/sh', ['-c', BOUNDED, 'sh', seconds, ...node, JSON.stringify(task)], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}

/** `…/node_modules/name/dist/index.mjs` → `…/node_modules/name/`. */
const packageFolder = (module: string): string =>
  /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(module)?.[0] ?? new URL('.', module).href

/** 0: the process has ended, or the system does not tell. */
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
