import { Worker } from 'node:worker_threads'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { LogEnd } from './log-end.ts'
import type { FilePlace } from './own-file.ts'
import {
  type AppendMessage,
  type BatchOutcome,
  type FromWriter,
  fromFailure,
  type ToWriter,
  toMessage,
} from './protocol.ts'
import type { Acknowledged } from './tail.ts'

/** Starts the writer's thread on a folder. `place`: where the log's file was at its first start. Null: this is it. */
export type Spawn = (folder: string, place: FilePlace | null) => Worker

export const spawnWriter = (folder: string, place: FilePlace | null = null): Worker => {
  const entry = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js'
  return new Worker(new URL(entry, import.meta.url), {
    workerData: { folder, place },
    execArgv: [],
    name: 'log-writer',
  })
}

/** Events of the writer's thread for the log. They arrive before waiting appends get their answers. */
export interface WriterNews {
  written(append: Acknowledged): void
  /** The file may contain more events than were reported. */
  unknown(): void
  /** There may be new events. */
  look(): void
  /** The log's file is no longer the opened one. */
  replaced(error: LogError): void
  /** The mark cannot be written. */
  warn(text: string): void
}

interface Pending {
  readonly stream: string
  readonly batch: readonly SealedEvent[]
  readonly resolve: (done: { position: number }) => void
  readonly reject: (error: LogError) => void
}

/**
 * The main thread's side of the writer's thread. A dead thread is replaced at the next append, and its pending appends
 * reject with `LOG_UNAVAILABLE`. Only pending appends keep the process alive.
 */
export class WriterThread {
  readonly #folder: string
  readonly #spawn: Spawn
  readonly #news: WriterNews
  readonly #pending = new Map<number, Pending>()
  /** The unsent appends of this tick. */
  #unsent: AppendMessage[] = []
  #worker: Worker | null = null
  #place: FilePlace | null = null
  #nextId = 1

  constructor(folder: string, spawn: Spawn, news: WriterNews) {
    this.#folder = folder
    this.#spawn = spawn
    this.#news = news
  }

  /** True while appends are pending. */
  get busy(): boolean {
    return this.#pending.size > 0
  }

  /** Starts the thread. Resolves with the time of the log's last event, in ms, and the comparison with the mark. */
  start(): Promise<{ readonly time: number; readonly end: LogEnd }> {
    const worker = this.#begin()
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromWriter) => {
        if (typeof message === 'string') return
        if ('ready' in message) resolve({ time: message.ready, end: message.end })
        if ('failed' in message) reject(fromFailure(message.failed))
      })
      worker.once('error', (error) => reject(lost(this.#folder, error)))
      worker.once('exit', () => reject(lost(this.#folder)))
    })
  }

  /** Sends the append at the end of this tick. Appends are written in call order. */
  append(stream: string, expected: number, batch: readonly SealedEvent[]) {
    return new Promise<{ position: number }>((resolve, reject) => {
      const id = this.#nextId++
      const worker = this.#worker ?? this.#begin()
      this.#pending.set(id, { stream, batch, resolve, reject })
      worker.ref()
      if (this.#unsent.push(toMessage(id, stream, expected, batch)) === 1) process.nextTick(() => this.#send())
    })
  }

  /** Allows appends although the log has lost its end. The mark remains. */
  accept(): void {
    const worker = this.#worker ?? this.#begin()
    this.#send()
    worker.postMessage('accept' satisfies ToWriter)
  }

  /** Resolves when the mark is up to date again. */
  accepted(): Promise<void> {
    const worker = this.#worker ?? this.#begin()
    return new Promise((resolve, reject) => {
      worker.ref()
      worker.on('message', (message: FromWriter) => {
        if (message === 'accepted') resolve()
      })
      worker.once('exit', () => reject(lost(this.#folder)))
      this.#send()
      worker.postMessage('accepted' satisfies ToWriter)
    })
  }

  /** Resolves when all appends are answered and {@link WriterNews.replaced} was called if the file was replaced. */
  async look(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    await new Promise<void>((resolve) => {
      worker.ref()
      worker.on('message', (message: FromWriter) => {
        if (message === 'looked') resolve()
      })
      worker.once('exit', () => resolve())
      this.#send()
      worker.postMessage('look' satisfies ToWriter)
    })
  }

  /** Resolves when all appends are answered and the file is closed. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    worker.ref()
    this.#send()
    worker.postMessage('close' satisfies ToWriter)
    await ended
  }

  #send(): void {
    const appends = this.#unsent
    this.#unsent = []
    // The appends of a thread that died in this tick are already answered.
    if (appends.length > 0) {
      const buffers = appends.map(({ bodies }) => bodies.buffer)
      this.#worker?.postMessage(appends satisfies ToWriter, buffers)
    }
  }

  #begin(): Worker {
    const worker = this.#spawn(this.#folder, this.#place)
    this.#worker = worker
    let reason: LogError | null = null
    worker.on('message', (message: FromWriter) => {
      if (typeof message === 'string') return
      if ('ready' in message) this.#place = message.place
      else if ('replaced' in message) this.#news.replaced(fromFailure(message.replaced))
      else if ('warning' in message) this.#news.warn(message.warning)
      else if ('failed' in message) reason = fromFailure(message.failed)
      else this.#answer(worker, message.done)
    })
    worker.on('error', (error) => {
      reason = lost(this.#folder, error)
    })
    worker.on('exit', () => {
      if (this.#worker !== worker) return
      this.#worker = null
      const pending = [...this.#pending.values()]
      this.#pending.clear()
      this.#unsent = []
      for (const { reject } of pending) reject(reason ?? lost(this.#folder))
      this.#news.unknown()
    })
    return worker
  }

  #answer(worker: Worker, outcomes: readonly BatchOutcome[]): void {
    for (const outcome of outcomes) {
      const pending = this.#pending.get(outcome.id)
      this.#pending.delete(outcome.id)
      if (pending === undefined) continue
      if ('failure' in outcome) {
        pending.reject(fromFailure(outcome.failure))
        continue
      }
      const { stream, batch } = pending
      this.#news.written({ stream, batch, position: outcome.position })
      pending.resolve({ position: outcome.position })
    }
    if (this.#pending.size === 0) worker.unref()
    this.#news.look()
  }
}

function lost(folder: string, cause?: unknown): LogError {
  const why = cause instanceof Error ? ` (${cause.message})` : ''
  return new LogError(
    'LOG_UNAVAILABLE',
    `the writer of the log in ${folder} ended${why}; resend the very same batch, which starts a new one`,
    { cause },
  )
}
