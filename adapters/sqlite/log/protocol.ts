import type { Chained } from '../../../domain/log/chain.ts'
import type { Header, SealedEvent } from '../../../domain/log/envelope.ts'
import { ConflictError, LogError, type LogErrorCode } from '../../../domain/log/errors.ts'
import { batchSealedAfter, sentHeader } from '../../../domain/log/seal.ts'
import type { LogEnd } from './log-end.ts'
import type { FilePlace } from './own-file.ts'

/**
 * An append in its form for the writer's thread. A few flat values are copied several times faster than objects.
 * Headers are sent as the canonical texts that the chain needs anyway, and bodies as one transferred buffer.
 */
export interface AppendMessage {
  readonly id: number
  readonly stream: string
  readonly expected: number
  /** One canonical header per line. Headers cannot contain line feeds. */
  readonly headers: string
  /** Hashes (64 characters each) and ids (36 each), concatenated. */
  readonly hashes: string
  readonly ids: string
  /** The concatenated bodies, and the size of each body. -1: the body is in the blob store. */
  readonly bodies: Uint8Array<ArrayBuffer>
  readonly sizes: readonly number[]
  /** The hash before the batch, if this process sealed the whole batch. Its hashes then need no check. */
  readonly after: string | undefined
}

/** An append as the writer receives it. */
export interface Job {
  readonly id: number
  readonly stream: string
  readonly expected: number
  readonly batch: readonly Chained[]
  /** The hash that the batch continues, with its bodies already proved. Undefined: the writer must check the batch. */
  readonly after?: string | undefined
}

/** A LogError in its form for messages between threads. */
interface Failure {
  readonly code: LogErrorCode
  readonly message: string
  readonly conflict?: { readonly stream: string; readonly expected: number; readonly actual: number }
}

export type BatchOutcome =
  | { readonly id: number; readonly position: number }
  | { readonly id: number; readonly failure: Failure }

/**
 * The appends of one tick in their order, because a message has the same cost for any size. `accept`: a person accepts
 * that the log has lost its end, so appends are allowed. `accepted`: the acceptance is recorded. `look`: look whether the
 * log's file is still the opened one.
 */
export type ToWriter = readonly AppendMessage[] | 'accept' | 'accepted' | 'look' | 'close'

/**
 * `ready`: the time of the log's last event, in ms; `end`: the comparison with the mark; `place`: where its file is.
 * `failed`: the writer could not open the log and ends. `warning`: the mark cannot be written. `replaced`: the file is
 * no longer the opened one.
 */
export type FromWriter =
  | { readonly ready: number; readonly end: LogEnd; readonly place: FilePlace }
  | { readonly replaced: Failure }
  | { readonly warning: string }
  | { readonly failed: Failure }
  | { readonly done: readonly BatchOutcome[] }
  | 'accepted'
  | 'looked'
  | 'closed'

export function toFailure(error: LogError): Failure {
  const { code, message } = error
  if (!(error instanceof ConflictError)) return { code, message }
  return { code, message, conflict: { stream: error.stream, expected: error.expected, actual: error.actual } }
}

export function fromFailure({ code, message, conflict }: Failure): LogError {
  if (conflict) return new ConflictError(conflict.stream, conflict.expected, conflict.actual, message)
  return new LogError(code, message)
}

export function toMessage(id: number, stream: string, expected: number, batch: readonly SealedEvent[]): AppendMessage {
  const sizes = batch.map(({ body }) => body?.length ?? -1)
  const bodies = new Uint8Array(sizes.reduce((sum, size) => sum + Math.max(size, 0), 0))
  let at = 0
  for (const { body } of batch)
    if (body) {
      bodies.set(body, at)
      at += body.length
    }
  return {
    id,
    stream,
    expected,
    headers: batch.map(sentHeader).join('\n'),
    hashes: batch.map(({ hash }) => hash).join(''),
    ids: batch.map((event) => event.id).join(''),
    bodies,
    sizes,
    after: batchSealedAfter(batch),
  }
}

export function toJob({ id, stream, expected, headers, hashes, ids, bodies, sizes, after }: AppendMessage): Job {
  let at = 0
  const batch = headers.split('\n').map((canonical, index) => {
    const size = sizes[index]!
    const body = size < 0 ? null : bodies.subarray(at, at + size)
    at += Math.max(size, 0)
    return {
      canonical,
      header: JSON.parse(canonical) as Header,
      body,
      hash: hashes.slice(index * 64, index * 64 + 64),
      id: ids.slice(index * 36, index * 36 + 36),
    }
  })
  return { id, stream, expected, batch, after }
}
