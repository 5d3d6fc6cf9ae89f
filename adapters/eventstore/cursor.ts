import {
  type AllStreamRecordedEvent,
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  type EventStoreDBClient,
  type ReadAllOptions,
  type ReadPosition,
  type StreamingRead,
} from '@eventstore/db-client'
import type { Cursor } from '../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { cursorError, LogError } from '../../domain/log/errors.ts'
import { LOG_META } from '../../domain/log/ids.ts'
import { hashOf, nameOf } from './codec.ts'
import { isUnexpectedResult, Overdue } from './errors.ts'
import type { Feed } from './feed.ts'
import { readFiltered } from './filtered.ts'
import { patiently } from './patience.ts'
import type { Place } from './place.ts'
import { PAGE } from './read.ts'
import type { Spot } from './seen-events.ts'

export const isMismatch = (error: unknown): boolean => error instanceof LogError && error.code === 'CURSOR_MISMATCH'

const readAll = (options: ReadAllOptions) => (client: EventStoreDBClient) =>
  client.readAll({ requiresLeader: true, ...options }) as StreamingRead<AllStreamResolvedEvent>

/** Semaphore in the whole log. A cursor names one of our own events: log, position with both halves, and the hash there. */
export class Cursors {
  readonly #place: Place
  /** The log's identity. */
  readonly first: RecordedEvent
  readonly logId: string

  constructor(place: Place, first: RecordedEvent, logId: string) {
    this.#place = place
    this.first = first
    this.logId = logId
  }

  of({ position, hash }: Spot): Cursor {
    return { logId: this.logId, position, prepare: position, hash }
  }

  /**
   * The last event of our namespace in the whole log, by a search backwards. Returns the log's first event where the server
   * searches too many events of other programs to answer in time; a search forwards from there reports its progress.
   */
  last(): Promise<RecordedEvent> {
    const { connection, namespace, limits, closed } = this.#place
    const patience = { limits, servers: connection.address.servers, signal: closed }
    return patiently(patience, 'looking for the last event', namespace, async () => {
      try {
        return await this.#lookBack()
      } catch (error) {
        if (error instanceof Overdue) return this.first
        throw error
      }
    })
  }

  async #lookBack(): Promise<RecordedEvent> {
    const { connection, namespace, limits, closed, strays } = this.#place
    let fromPosition: ReadPosition = END
    for (let maxCount = 1; ; maxCount = Math.min(2 * maxCount, PAGE)) {
      const backwards: ReadAllOptions = { direction: BACKWARDS, fromPosition, maxCount, requiresLeader: true }
      const open = (client: EventStoreDBClient) => readFiltered(client, nameOf(namespace, ''), backwards)
      const page = await connection.read(open, limits.callMs, closed)
      for (const { event } of page) {
        const own = strays.own(event!)
        if (own) return own
      }
      const end = page.at(-1)?.event
      if (!end) throw this.#replaced()
      fromPosition = end.position
    }
  }

  /**
   * Makes sure that the log still holds what a cursor names; null: that it is still this log. Rejects with
   * `CURSOR_MISMATCH`, or with what one try of a read rejects with.
   */
  async check(cursor: Cursor | null, signal: AbortSignal): Promise<void> {
    if (cursor === null) return await this.#checkIdentity(signal)
    const { position, prepare = position, hash, logId } = cursor
    if (logId !== this.logId || prepare !== position) throw this.#mismatch()
    if (position === this.first.position && hash === this.first.hash) return await this.#checkIdentity(signal)
    const stored = await this.#hashAt(position, signal)
    if (stored !== hash) throw this.#mismatch()
  }

  /**
   * Compares the log with the last event that this process has seen, and notes in `known` where the log lacks that event.
   * Rejects with `LOG_REPLACED` where another log has taken the place of this one, or with what one try of a read rejects with.
   */
  async checkKnown(signal: AbortSignal): Promise<void> {
    const { known } = this.#place
    const { last } = known
    if (last === null) return
    try {
      await this.check(this.of(last), signal)
    } catch (error) {
      if (!isMismatch(error)) throw error
      await this.#checkIdentity(signal)
      known.lose()
    }
  }

  /** {@link checkKnown}, tried again while the server does not answer. */
  stillKnown(): Promise<void> {
    const { connection, namespace, limits, closed } = this.#place
    const patience = { limits, servers: connection.address.servers, signal: closed }
    return patiently(patience, 'looking for the last known event', namespace, () => this.checkKnown(closed))
  }

  async #checkIdentity(signal: AbortSignal): Promise<void> {
    if ((await this.#hashAt(this.first.position, signal)) !== this.first.hash) throw this.#replaced()
  }

  /** Where to look on for what comes after one of our events, which the log is known to hold. */
  async start(spot: Spot, signal: AbortSignal): Promise<number> {
    const looked = this.#place.known.beyond(spot)
    return looked && (await this.#eventAt(looked.position, signal))?.id === looked.id ? looked.position : spot.position
  }

  /** Keeps how far a feed has looked after our event `spot`, if that can be told again later. */
  async learn({ position: after, hash }: Spot, feed: Feed, signal: AbortSignal): Promise<void> {
    const { known } = this.#place
    const position = feed.checkpoint
    if (position === null || position <= (known.beyond({ position: after, hash })?.position ?? after)) return
    const event = await this.#eventAt(position, signal).catch(() => null)
    // Else it may be the event of another state of the log.
    if (event && !feed.broken) known.look({ after, position, id: event.id })
  }

  /** The hash of our event at a position; null where none of ours begins there. */
  async #hashAt(position: number, signal: AbortSignal): Promise<string | null> {
    const event = await this.#eventAt(position, signal)
    return event?.streamId.startsWith(`${this.#place.namespace}.`) ? hashOf(event) : null
  }

  /** Whosever event begins at a position; null where none does. */
  async #eventAt(position: number, signal: AbortSignal): Promise<AllStreamRecordedEvent | null> {
    const { connection, limits } = this.#place
    const at = { commit: BigInt(position), prepare: BigInt(position) }
    try {
      const [found] = await connection.read(readAll({ fromPosition: at, maxCount: 1 }), limits.callMs, signal)
      return found?.event?.position.commit === at.commit ? found.event : null
    } catch (error) {
      // A place where no event begins is answered like a fault of the server: ask for one where an event does.
      if (!isUnexpectedResult(error) || position === this.first.position) throw error
      await this.#checkIdentity(signal)
      return null
    }
  }

  #mismatch(): LogError {
    return cursorError('CURSOR_MISMATCH', `the cursor is of another log than ${this.logId}; read from the start`)
  }

  #replaced(): LogError {
    const name = nameOf(this.#place.namespace, LOG_META)
    return new LogError(
      'LOG_REPLACED',
      `the log ${this.logId} was replaced: the event store no longer holds its first event (${name}). Was that on purpose: ` +
        'start this process again; else restore the log, or look at KEEPUP_EVENTSTORE',
    )
  }
}
