import type { ChildProcess, SpawnOptions } from 'node:child_process'
import type { Readable } from 'node:stream'
import { ToolError } from '../../domain/calls/errors.ts'
import type { CommandResult, TextFilter } from '../../domain/ports/index.ts'
import { endWithUs, startGroup } from '../processes/group.ts'
import { type Captured, capture } from './capture.ts'

/** The time from SIGTERM to SIGKILL, in ms. */
export const KILL_AFTER_MS = 5_000
/** The wait for the streams of an ended command, in ms. An escaped process may keep them open. */
const STREAM_GRACE_MS = 1_000

interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly options: Omit<SpawnOptions, 'stdio' | 'detached'>
  /** The descriptors from 0 on. The child has no others. */
  readonly stdio: readonly ('ignore' | 'pipe')[]
  readonly timeoutMs: number
  readonly graceMs: number
  readonly signal: AbortSignal
  readonly onOutput?: ((text: string) => void) | undefined
  readonly filter?: (() => TextFilter) | undefined
  readonly onSpawn?: (child: ChildProcess) => void
  /** Ends every process of the command. `hard`: with SIGKILL. */
  stop(child: ChildProcess, hard: boolean): void
}

/** Runs a process to its end. Rejects with the signal's reason when aborted, after everything was ended. */
export async function runProcess(launch: Launch): Promise<CommandResult> {
  launch.signal.throwIfAborted()
  const started = performance.now()
  const child = start(launch)
  const stdout = capture(launch.onOutput, launch.filter?.())
  const stderr = capture(launch.onOutput, launch.filter?.())
  child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk))
  child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk))
  const forget = child.pid === undefined ? () => {} : endWithUs(child, () => launch.stop(child, true))
  if (child.pid !== undefined) launch.onSpawn?.(child)

  let timedOut = false
  const timers: NodeJS.Timeout[] = []
  const stop = () => {
    launch.stop(child, false)
    timers.push(setTimeout(() => launch.stop(child, true), launch.graceMs))
  }
  timers.push(
    setTimeout(() => {
      timedOut = true
      stop()
    }, launch.timeoutMs),
  )
  launch.signal.addEventListener('abort', stop, { once: true })

  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      for (const timer of timers) clearTimeout(timer)
      launch.signal.removeEventListener('abort', stop)
      forget()
      end()
    }
    child.on('error', (cause) => {
      if (child.pid !== undefined) return
      settle(() => reject(notStarted(cause)))
    })
    child.on('exit', () => {
      // Processes that the command left running belong to it, and would keep its streams open.
      launch.stop(child, true)
      timers.push(setTimeout(() => closeStreams(child), STREAM_GRACE_MS))
    })
    child.on('close', (exitCode, signal) =>
      settle(() => {
        if (launch.signal.aborted) reject(launch.signal.reason)
        else {
          const [out, err] = [stdout.end(), stderr.end()]
          const cut = out.pieces !== undefined || err.pieces !== undefined
          resolve({
            exitCode,
            signal,
            timedOut,
            stdout: out.text,
            stderr: err.text,
            ...(cut && { output: { stdout: piecesOf(out), stderr: piecesOf(err) } }),
            stdoutBytes: stdout.size,
            stderrBytes: stderr.size,
            durationMs: Math.round(performance.now() - started),
          })
        }
      }),
    )
  })
}

const piecesOf = ({ text, pieces }: Captured) => pieces ?? [Buffer.from(text, 'utf8')]

/** Starts the process. `spawn` throws some failures, such as a command line that is too long, and emits others. */
function start({ file, args, options, stdio }: Launch): ChildProcess {
  try {
    return startGroup(file, args, stdio, options)
  } catch (error) {
    throw error instanceof ToolError ? error : notStarted(error as Error)
  }
}

const notStarted = (cause: Error): ToolError =>
  new ToolError('EXECUTION_FAILED', `the command could not be started: ${cause.message}`, { cause, beforeEffect: true })

function closeStreams(child: ChildProcess): void {
  for (const stream of child.stdio) (stream as Readable | null)?.destroy()
}
