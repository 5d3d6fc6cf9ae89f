import type { RecordedEvent, SealedEvent } from '../../log/envelope.ts'
import type { Head } from '../../ports/index.ts'
import type { Decoding, StreamEvent } from '../aggregate.ts'
import { bodyUnlessErased, erasedError, inlineBody } from './bodies.ts'
import type { ReadStores } from './ports.ts'
import { Residues } from './residues.ts'

/** A decoded event with its recorded form. */
export interface Remembered<Event> {
  readonly event: Event
  readonly recorded: RecordedEvent
}

/**
 * A stream's whole history in order, in pages: first the events inherited from another stream, then its own. `from`,
 * `to`: revisions of the stream itself, inclusive. `types`: events of other types may be left out, except the first
 * event of each stream.
 */
export async function* history<Event extends StreamEvent>(
  stores: ReadStores,
  decoding: Decoding<Event>,
  stream: string,
  { from = 0, to = Number.POSITIVE_INFINITY, types }: HistoryOptions = {},
): AsyncGenerator<readonly Remembered<Event>[]> {
  const only = types === undefined ? {} : { types }
  // The first event names the inherited stream.
  const parts =
    types !== undefined && from === 0 && to > 0 ? [[0, 0] as const, [1, to] as const] : [[from, to] as const]
  for (const [start, end] of parts) {
    for await (const page of ownHistory(stores, decoding, stream, start, end, start === 0 ? undefined : types)) {
      const source = page[0] && decoding.inherited?.(page[0].event)
      if (source) yield* history(stores, decoding, source.stream, { to: source.revision, ...only })
      yield page
    }
  }
}

export interface HistoryOptions {
  readonly from?: number
  readonly to?: number
  readonly types?: readonly string[]
}

/** The first event of a stream. Null: the stream does not exist. */
export async function firstOf<Event extends StreamEvent>(
  stores: ReadStores,
  decoding: Decoding<Event>,
  stream: string,
): Promise<Event | null> {
  for await (const [first] of ownHistory(stores, decoding, stream, 0, 0)) if (first !== undefined) return first.event
  return null
}

/** The events of a stream itself, without inherited ones. `from`, `to`: revisions, inclusive. */
export async function* ownHistory<Event extends StreamEvent>(
  stores: ReadStores,
  decoding: Decoding<Event>,
  stream: string,
  from: number,
  to: number,
  types?: readonly string[],
): AsyncGenerator<readonly Remembered<Event>[]> {
  const limit = {
    ...(to === Number.POSITIVE_INFINITY ? {} : { limit: to - from + 1 }),
    ...(types === undefined ? {} : { types }),
  }
  const residues = new Residues(stores, decoding, stream)
  for await (const page of stores.log.read(stream, { from, ...limit })) {
    const remembered: Remembered<Event>[] = []
    try {
      for (const recorded of page) {
        // Nearly all bodies are inline, and an await for each would cost more than reading it.
        const body = recorded.erased ? null : (inlineBody(recorded) ?? (await bodyUnlessErased(stores, recorded)))
        if (body !== null) {
          remembered.push({ event: decoding.decode(recorded.header, body), recorded })
          continue
        }
        const left = await residues.of(recorded.header)
        if (left === null) throw erasedError(recorded.header)
        remembered.push({ event: left, recorded: recorded.erased ? recorded : { ...recorded, erased: true } })
      }
    } catch (error) {
      // Yield the readable events before the error.
      if (remembered.length > 0) yield remembered
      throw error
    }
    yield remembered
  }
}

export const headOfEvent = ({ header, hash }: SealedEvent): Head => ({
  revision: header.revision,
  hash,
  timestamp: Date.parse(header.timestamp),
})
