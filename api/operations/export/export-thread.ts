import { Worker } from 'node:worker_threads'
import { beside, threadEnv } from '../../../adapters/threads/first-message.ts'
import { ExportError, errorOf } from './export-error.ts'
import type { AskedLines, Exported, ExportWork, FromThread, Piece, ToThread } from './thread-protocol.ts'

/** Gives the lines of an export, from this process or from a server. */
export type ExportSource = (asked: AskedLines) => AsyncIterable<Piece>

/**
 * Exports into a folder. A thread encodes and writes the files, so this thread only reads the lines. Rejects with an
 * `ExportError`, with an error of the source, or with the reason of the signal. A later export continues after the last event of this one.
 */
export async function runExport(work: ExportWork, source: ExportSource, signal?: AbortSignal): Promise<Exported> {
  signal?.throwIfAborted()
  if (work.tables && work.format === 'cloudevents')
    throw new ExportError('EXPORT_FORMAT', 'cloudevents is a format of events; export tables in another format')
  const thread = new Worker(beside(import.meta.url, 'worker'), { workerData: work, env: threadEnv(), execArgv: [] })
  const lines = new Lines(source, (message) => thread.postMessage(message))
  let leave = () => {}
  try {
    return await new Promise<Exported>((resolve, reject) => {
      leave = () => reject(signal!.reason)
      signal?.addEventListener('abort', leave)
      thread.on('message', (message: FromThread) => {
        if (message.kind === 'done') resolve(message.exported)
        else if (message.kind === 'failed') reject(lines.error ?? errorOf(message.failure, work.folder))
        else lines.take(message)
      })
      thread.on('error', reject)
      thread.once('exit', (code) =>
        reject(new ExportError('EXPORT_BROKEN', `the thread of the export ended with ${code}; run the export again`)),
      )
    })
  } finally {
    signal?.removeEventListener('abort', leave)
    await thread.terminate()
    await lines.close()
  }
}

type Request = Extract<FromThread, { stream: number }>

/** The open iterators of a source. The next piece of each is read while the thread works on the last one. */
class Lines {
  /** The first error of the source. */
  error: unknown = null
  readonly #source: ExportSource
  readonly #send: (message: ToThread) => void
  readonly #open = new Map<number, { readonly pieces: AsyncIterator<Piece>; next: Promise<IteratorResult<Piece>> }>()

  constructor(source: ExportSource, send: (message: ToThread) => void) {
    this.#source = source
    this.#send = send
  }

  take(request: Request): void {
    const { stream } = request
    if (request.kind === 'open') {
      const pieces = this.#source(request.asked)[Symbol.asyncIterator]()
      this.#open.set(stream, { pieces, next: ahead(pieces) })
    } else if (request.kind === 'pull') void this.#pull(stream)
    else void this.#end(stream)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((stream) => this.#end(stream)))
  }

  async #pull(stream: number): Promise<void> {
    const one = this.#open.get(stream)
    if (one === undefined) return
    try {
      const { done, value } = await one.next
      if (done !== true) one.next = ahead(one.pieces)
      this.#send({ stream, piece: done === true ? null : value })
    } catch (error) {
      this.error ??= error
      this.#send({ stream, failure: error instanceof Error ? error.message : String(error) })
    }
  }

  async #end(stream: number): Promise<void> {
    const one = this.#open.get(stream)
    this.#open.delete(stream)
    await one?.pieces.return?.().then(
      () => undefined,
      () => undefined,
    )
  }
}

/** The next piece. Its error is reported when the piece is awaited. */
function ahead(pieces: AsyncIterator<Piece>): Promise<IteratorResult<Piece>> {
  const next = pieces.next()
  next.catch(() => undefined)
  return next
}
