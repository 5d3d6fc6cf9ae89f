import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const LOG_CHILD = fileURLToPath(new URL('./log/log-child.ts', import.meta.url))

interface Child {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  /** Lines of stdout. */
  readonly lines: AsyncIterable<string>
  /** The exit code or signal, and the text of stderr. */
  readonly ended: Promise<{ end: number | string; stderr: string }>
}

/** Starts a program and kills it at the end of the test. */
export function start(program: string, args: readonly string[]): Child {
  const process = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let stderr = ''
  process.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const ended = new Promise<{ end: number | string; stderr: string }>((resolve, reject) => {
    process.once('error', reject)
    process.once('close', (code, signal) => resolve({ end: signal ?? code ?? 'unknown', stderr }))
  })
  ended.catch(() => undefined)
  onTestFinished(() => {
    process.kill('SIGKILL')
  })
  return { process, lines: createInterface(process.stdout), ended }
}

/** Starts a child that owns a log; see log-child.ts for its tasks. */
export function startLogChild(...args: string[]): Child {
  return start(process.execPath, [LOG_CHILD, ...args])
}
