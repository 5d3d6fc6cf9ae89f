import { type Cursor, formatCursor, parseCursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { BlobStore, Clock, EventLog, Position, Positions } from '../../../domain/ports/index.ts'
import { countEventsAfter } from '../events/count-events-after.ts'
import { EventFeed } from '../events/feed.ts'
import { notFound, Problem } from '../problem.ts'
import { type ConsumerFilter, filterText } from './filter.ts'
import { ConsumerReader } from './reader.ts'
import type { Consumer } from './schemas.ts'

/** The greatest lag that is counted. */
const MOST_COUNTED = 10_000
/** The most consumers of a log. */
const MOST_CONSUMERS = 1_000

export interface ConsumerParts {
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly clock: Clock
  /** Null: this host keeps no positions. */
  readonly positions: Positions | null
}

/** The part of a consumer that its position stores as a note. A position without a note is no consumer. */
interface Note {
  readonly filter: ConsumerFilter
  /** The cursor after which the consumer began; null: the beginning of the log. */
  readonly from: string | null
  readonly createdAt: string
  readonly ackedAt: string | null
}

/** A consumer that exists. */
interface Held extends Position {
  readonly note: string
}

const PREFIX = 'consumer:'
const positionName = (name: string): string => `${PREFIX}${name}`
const noteOf = ({ note }: Held): Note => JSON.parse(note) as Note
const isHeld = (position: Position | null): position is Held => position?.note != null

const unknown = (name: string): Problem =>
  notFound('consumer', name, 'PUT /v1/consumers/{name} creates it; GET /v1/consumers lists them')

const takenOver = (name: string, epoch: number): Problem =>
  new Problem('CONSUMER_TAKEN', `reader ${epoch} has opened the consumer ${name} since; open it again to take it back`)

/**
 * Named consumers of the log. Each has one position and one reader: the last reader to open it. Positions are outside
 * of the log, because an ack is no fact.
 */
export class Consumers {
  readonly #parts: ConsumerParts
  readonly #feed: EventFeed

  constructor(parts: ConsumerParts) {
    this.#parts = parts
    this.#feed = new EventFeed(parts)
  }

  get #positions(): Positions {
    const { positions } = this.#parts
    if (positions !== null) return positions
    throw new Problem(
      'CONSUMERS_UNAVAILABLE',
      'this program brought no store for positions; give createKeepUp "positions"',
    )
  }

  /** Creates a consumer. False: it exists with this filter; nothing changes. Rejects for another filter. */
  async create(name: string, { after, filter }: { after: Cursor | null; filter: ConsumerFilter }): Promise<boolean> {
    const { clock } = this.#parts
    for (;;) {
      const held = await this.#positions.read(positionName(name))
      if (isHeld(held)) {
        if (filterText(noteOf(held).filter) === filterText(filter)) return false
        throw new Problem(
          'CONSUMER_EXISTS',
          `the consumer ${name} has another filter; remove it first, or use another name`,
        )
      }
      const all = await this.#positions.list(PREFIX)
      if ([...all.values()].filter(isHeld).length >= MOST_CONSUMERS)
        throw new Problem('CONSUMERS_FULL', `there are ${MOST_CONSUMERS} consumers already; remove some`)
      const claimed = await this.#positions.claim(positionName(name))
      // Another program has created the consumer since.
      if (isHeld(claimed)) continue
      const { epoch } = claimed
      const from = after && formatCursor(after)
      const createdAt = new Date(clock.now()).toISOString()
      const note: Note = { filter, from, createdAt, ackedAt: null }
      if (await this.#write(name, { cursor: after, epoch, note: JSON.stringify(note) }, null)) return true
    }
  }

  async list(): Promise<readonly Consumer[]> {
    if (this.#parts.positions === null) return []
    const all = [...(await this.#positions.list(PREFIX))]
    const held = all.flatMap(([name, one]) => (isHeld(one) ? [[name.slice(PREFIX.length), one] as const] : []))
    const views: Consumer[] = []
    for (const [name, one] of held) views.push(await this.#view(name, one))
    return views
  }

  async get(name: string): Promise<Consumer> {
    return this.#view(name, await this.#held(name))
  }

  /** Removes a consumer and ends its reader. The epochs of the name keep growing, so a later consumer refuses acks of this reader. */
  async remove(name: string): Promise<void> {
    await this.#held(name)
    const { epoch } = await this.#positions.claim(positionName(name))
    if (!(await this.#write(name, { cursor: null, epoch, note: null }))) throw takenOver(name, epoch + 1)
  }

  /**
   * Opens a consumer for the next reader, after its position. `own`: the position that the reader stores itself, in
   * place of the stored one; null: it has stored none, and begins where the consumer began.
   */
  async open(name: string, own?: Cursor | null): Promise<ConsumerReader> {
    await this.#held(name)
    const claimed = await this.#positions.claim(positionName(name))
    if (!isHeld(claimed)) throw unknown(name)
    if (own === undefined) return this.#reader(name, claimed)
    const { from } = noteOf(claimed)
    const moved = { ...claimed, cursor: own ?? (from === null ? null : parseCursor(from)) }
    await this.#mustReach(name, moved.cursor, 'forget the position that your program stores (forgetPosition), and')
    if (!(await this.#write(name, moved))) throw takenOver(name, claimed.epoch + 1)
    return this.#reader(name, moved)
  }

  /** The present reader again, after the present position. Rejects if another one has opened the consumer. */
  async reopen(name: string, epoch: number): Promise<ConsumerReader> {
    return this.#reader(name, await this.#held(name, epoch))
  }

  /** Moves the position forward for the present reader. Returns the position, which may be a later one already. */
  async ack(name: string, epoch: number, cursor: Cursor): Promise<Cursor> {
    const ackedAt = new Date(this.#parts.clock.now()).toISOString()
    for (;;) {
      const held = await this.#held(name, epoch)
      if (held.cursor !== null && held.cursor.position >= cursor.position) return held.cursor
      const note = JSON.stringify({ ...noteOf(held), ackedAt } satisfies Note)
      if (await this.#write(name, { cursor, epoch, note }, held.cursor)) return cursor
    }
  }

  /**
   * Moves the position over events that the filter excludes, once everything `sent` is acked. `seen` is called after the
   * position was read. Rejects like {@link ack}.
   */
  async advance(name: string, epoch: number, seen: () => { sent: Cursor | null; read: Cursor | null }): Promise<void> {
    const held = await this.#held(name, epoch)
    const { sent, read } = seen()
    const at = held.cursor?.position ?? -1
    if (read !== null && read.position > at && (sent === null || sent.position <= at))
      await this.#write(name, { ...held, cursor: read }, held.cursor)
  }

  /** `epoch`: rejects with `CONSUMER_TAKEN` if the last reader has another one. */
  async #held(name: string, epoch?: number): Promise<Held> {
    const held = await this.#positions.read(positionName(name))
    if (!isHeld(held)) throw unknown(name)
    if (epoch !== undefined && held.epoch !== epoch) throw takenOver(name, held.epoch)
    return held
  }

  #write(name: string, position: Position, from?: Cursor | null): Promise<boolean> {
    return this.#positions.write(positionName(name), position, from)
  }

  async #reader(name: string, { cursor, epoch, note }: Held): Promise<ConsumerReader> {
    const { log, clock } = this.#parts
    await this.#mustReach(name, cursor)
    const { filter } = noteOf({ cursor, epoch, note })
    return new ConsumerReader({ name, epoch, position: cursor, filter, feed: this.#feed, log, clock, consumers: this })
  }

  /** Rejects with `CURSOR_MISMATCH` if the log does not contain the cursor. `first`: what to do before the remedy. */
  async #mustReach(name: string, cursor: Cursor | null, first = ''): Promise<void> {
    const { log } = this.#parts
    try {
      for await (const _ of log.readAll(cursor, { limit: 1, bodies: false })) break
    } catch (error) {
      if (!(error instanceof LogError && error.code === 'CURSOR_MISMATCH')) throw error
      const why = `the consumer ${name} had read another log, or a later state of this one`
      throw new LogError('CURSOR_MISMATCH', `${why}; ${`${first} remove it and create it again`.trim()}`, {
        cause: error,
      })
    }
  }

  async #view(name: string, held: Held): Promise<Consumer> {
    const { log } = this.#parts
    const { filter, createdAt, ackedAt } = noteOf(held)
    const [head, lag] = await Promise.all([log.headCursor(), countEventsAfter(log, held.cursor, MOST_COUNTED)])
    const position = held.cursor && formatCursor(held.cursor)
    return { name, filter, position, head: formatCursor(head), lag, epoch: held.epoch, createdAt, lastAckAt: ackedAt }
  }
}
