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
import { hashOf, storedStreamName } from './codec.ts'
import { isUnexpectedResult, Overdue } from './errors.ts'
import type { Feed } from './feed.ts'
import { readFiltered } from './filtered.ts'
import type { LogParts } from './log-parts.ts'
import { PAGE } from './read.ts'
import { patiently } from './retry.ts'
import type { Spot } from './seen-events.ts'

export const isMismatch = (error: unknown): boolean => error instanceof LogError && error.code === 'CURSOR_MISMATCH'

const readAll = (options: ReadAllOptions) => (client: EventStoreDBClient) =>
  client.readAll({ requiresLeader: true, ...options }) as StreamingRead<AllStreamResolvedEvent>

/**
 * Reads the whole log by position. A cursor identifies one of keepup's events: the log, the position with both halves,
 * and the event's hash.
 */
export class Cursors {
  readonly #place: LogParts
  /** The log's first event, which contains its identity. */
  readonly first: RecordedEvent
  readonly logId: string

  constructor(place: LogParts, first: RecordedEvent, logId: string) {
    this.#place = place
    this.first = first
    this.logId = logId
  }

  of({ position, hash }: Spot): Cursor {
    return { logId: this.logId, position, prepare: position, hash }
  }

  /**
   * The last event of this namespace, found by a backward search. If the server has to search too many events of other
   * programs for the time limit, returns the log's first event. A forward search from there reports its progress.
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
      const open = (client: EventStoreDBClient) => readFiltered(client, storedStreamName(namespace, ''), backwards)
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
   * Checks that the log still contains the event of a cursor, or, for null, that the log is still the same. Rejects
   * with `CURSOR_MISMATCH`, or with the errors of one read attempt.
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
   * Checks that the log contains the last event that this process has seen. If not, notes the loss in `known`. Rejects
   * with `LOG_REPLACED` if another log has replaced this one, or with the errors of one read attempt.
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

  /** {@link checkKnown} with retries while the server does not answer. */
  stillKnown(): Promise<void> {
    const { connection, namespace, limits, closed } = this.#place
    const patience = { limits, servers: connection.address.servers, signal: closed }
    return patiently(patience, 'looking for the last known event', namespace, () => this.checkKnown(closed))
  }

  async #checkIdentity(signal: AbortSignal): Promise<void> {
    if ((await this.#hashAt(this.first.position, signal)) !== this.first.hash) throw this.#replaced()
  }

  /** The position to continue from after an event that the log contains. Skips the part that was already searched. */
  async start(spot: Spot, signal: AbortSignal): Promise<number> {
    const looked = this.#place.known.beyond(spot)
    return looked && (await this.#eventAt(looked.position, signal))?.id === looked.id ? looked.position : spot.position
  }

  /**
   * Remembers how far a feed has searched after the event `spot`, if an event at that position can confirm it later.
   */
  async learn({ position: after, hash }: Spot, feed: Feed, signal: AbortSignal): Promise<void> {
    const { known } = this.#place
    const position = feed.checkpoint
    if (position === null || position <= (known.beyond({ position: after, hash })?.position ?? after)) return
    const event = await this.#eventAt(position, signal).catch(() => null)
    // If the feed broke, the event may be from another state of the log.
    if (event && !feed.broken) known.look({ after, position, id: event.id })
  }

  /** The hash of keepup's event at a position; null if none begins there. */
  async #hashAt(position: number, signal: AbortSignal): Promise<string | null> {
    const event = await this.#eventAt(position, signal)
    return event?.streamId.startsWith(`${this.#place.namespace}.`) ? hashOf(event) : null
  }

  /** The event of any program that begins at a position; null if none does. */
  async #eventAt(position: number, signal: AbortSignal): Promise<AllStreamRecordedEvent | null> {
    const { connection, limits } = this.#place
    const at = { commit: BigInt(position), prepare: BigInt(position) }
    try {
      const [found] = await connection.read(readAll({ fromPosition: at, maxCount: 1 }), limits.callMs, signal)
      return found?.event?.position.commit === at.commit ? found.event : null
    } catch (error) {
      // The server answers a position without an event like an internal fault. A read at the first event distinguishes
      // the two.
      if (!isUnexpectedResult(error) || position === this.first.position) throw error
      await this.#checkIdentity(signal)
      return null
    }
  }

  #mismatch(): LogError {
    return cursorError('CURSOR_MISMATCH', `the cursor is of another log than ${this.logId}; read from the start`)
  }

  #replaced(): LogError {
    const name = storedStreamName(this.#place.namespace, LOG_META)
    return new LogError(
      'LOG_REPLACED',
      `the log ${this.logId} was replaced: the event store no longer holds its first event (${name}). Was that on purpose: ` +
        'start this process again; else restore the log, or look at KEEPUP_EVENTSTORE',
    )
  }
}
