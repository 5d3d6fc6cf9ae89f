import { type AllStreamResolvedEvent, BACKWARDS, END, ErrorType, type StreamingRead } from '@eventstore/db-client'
import { isStreamDamage } from '../../domain/log/damage.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { LogError } from '../../domain/log/errors.ts'
import type { Head } from '../../domain/ports/index.ts'
import { decode, storedStreamName } from './codec.ts'
import { causeOf, hidden, tooMuch } from './errors.ts'
import { Tips } from './heads.ts'
import type { LogParts } from './log-parts.ts'
import { patiently } from './retry.ts'
import { readMetadata } from './truncation.ts'

/** The most events per call. */
export const PAGE = 256

interface Decoded {
  readonly events: readonly RecordedEvent[]
  readonly damage: LogError | null
}

/** Decodes the events up to the first damaged one. */
function decoded(namespace: string, read: readonly AllStreamResolvedEvent[]): Decoded {
  const events: RecordedEvent[] = []
  for (const { event } of read)
    try {
      events.push(decode(namespace, event!))
    } catch (error) {
      if (!isStreamDamage(error)) throw error
      return { events, damage: error }
    }
  return { events, damage: null }
}

/**
 * Reads streams, always at the leader, so that a read returns every acknowledged event. Events that an operator has
 * hidden or deleted cause an error, never a shorter result.
 */
export class StreamReader {
  readonly tips = new Tips()
  readonly #place: LogParts

  constructor(place: LogParts) {
    this.#place = place
  }

  /** The last event of a stream; null if the stream does not exist. */
  async last(stream: string): Promise<RecordedEvent | null> {
    const found = await this.#call(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 })
    if (found === null) return null
    if (found.damage !== null) throw found.damage
    const last = found.events[0]
    if (!last) throw hidden(stream, 'all its events are hidden')
    this.tips.note(last)
    return last
  }

  async head(stream: string): Promise<Head | null> {
    const last = await this.last(stream)
    if (!last) return null
    return { revision: last.header.revision, hash: last.hash, timestamp: Date.parse(last.header.timestamp) }
  }

  /** At most `count` events from a revision on. Empty if the stream is shorter. */
  async some(stream: string, revision: number, count: number): Promise<readonly RecordedEvent[]> {
    for await (const page of this.pages(stream, revision, count)) return page
    return []
  }

  /** Events from a revision on, in pages. Rejects at a damaged event, after the events before it. */
  async *pages(stream: string, from: number, limit: number): AsyncGenerator<readonly RecordedEvent[]> {
    let next = from
    for (let left = limit; left > 0; ) {
      const count = Math.min(left, PAGE)
      const called = await this.#call(stream, { fromRevision: BigInt(next), maxCount: count })
      if (called === null) {
        if (next > from || this.tips.last(stream)) throw hidden(stream, 'it was there and is gone')
        return
      }
      const { events: page, damage } = called
      const first = page[0]
      if (!first) {
        if (damage !== null) throw damage
        // The server returns nothing both past the end and when all events are hidden. `last` rejects in the second
        // case.
        await this.last(stream)
        return
      }
      if (first.header.revision !== next)
        throw hidden(stream, `its events ${next} to ${first.header.revision - 1} are hidden`)
      this.tips.note(page[page.length - 1]!)
      next += page.length
      left -= page.length
      yield page
      if (damage !== null) throw damage
      if (page.length < count) return
    }
  }

  /** Makes one call. Null: the stream does not exist. `damage`: the error of the damaged event after `events`. */
  async #call(stream: string, options: object): Promise<Decoded | null> {
    const { connection, namespace, limits, closed } = this.#place
    const name = storedStreamName(namespace, stream)
    const servers = connection.address.servers
    return patiently({ limits, servers, signal: closed }, `reading ${name}`, name, async () => {
      try {
        const read = await connection.read(
          (client) =>
            client.readStream(name, { requiresLeader: true, ...options }) as StreamingRead<AllStreamResolvedEvent>,
          limits.callMs,
          closed,
        )
        return decoded(namespace, read)
      } catch (error) {
        if (causeOf(error) !== ErrorType.STREAM_NOT_FOUND) throw tooMuch(error, name) ?? error
        await this.#checkDeleted(name)
        return null
      }
    })
  }

  /**
   * Rejects if an operator deleted the stream. Only its metadata distinguishes a deleted stream from one that never
   * existed.
   */
  async #checkDeleted(name: string): Promise<void> {
    const metadata = await readMetadata(this.#place, name, this.#place.closed)
    if (metadata?.$tb !== undefined) throw hidden(name, 'its metadata says that it begins later')
  }
}
