import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { cursorError } from '../../../domain/log/errors.ts'
import type { Head } from '../../../domain/ports/index.ts'
import { InternedNames } from './names.ts'
import { EVENT_COLUMNS, fromRow, type LogRow } from './row.ts'
import type { Last } from './tail.ts'

/** A page ends after this many events, or with the event that exceeds this many bytes of bodies. */
const PAGE_EVENTS = 512
const PAGE_BYTES = 1024 * 1024

const COLUMNS = EVENT_COLUMNS.map((name) => `e.${name}`).join(', ')
const HEADERS = `SELECT ${COLUMNS}, x.fact`
const BODIES = `${HEADERS}, b.packed, b.bytes`
const FROM = 'FROM events e LEFT JOIN erasures x ON x.position = e.position'
const WITH = `${FROM} LEFT JOIN bodies b ON b.position = e.position`
const OF_STREAM = 'WHERE e.stream = ? AND e.revision BETWEEN ? AND ? ORDER BY e.revision LIMIT ?'
const OF_TYPES =
  'WHERE e.stream = ? AND e.revision BETWEEN ? AND ? AND e.kind IN ' +
  '(SELECT id FROM kinds WHERE type IN (SELECT value FROM json_each(?))) ORDER BY e.revision LIMIT ?'
const OF_LOG = 'WHERE e.position BETWEEN ? AND ? ORDER BY e.position LIMIT ?'

/** Reads pages from the log's file. Every method is one synchronous step, and no statement remains open after it. */
export class Reader {
  readonly #names: InternedNames
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#names = new InternedNames(db)
    const rows = (sql: string) => {
      const statement = db.prepare(sql)
      statement.setReturnArrays(true)
      return statement
    }
    this.#sql = {
      stream: rows(`${BODIES} ${WITH} ${OF_STREAM}`),
      streamHeaders: rows(`${HEADERS} ${FROM} ${OF_STREAM}`),
      streamTypes: rows(`${BODIES} ${WITH} ${OF_TYPES}`),
      streamTypesHeaders: rows(`${HEADERS} ${FROM} ${OF_TYPES}`),
      log: rows(`${BODIES} ${WITH} ${OF_LOG}`),
      logHeaders: rows(`${HEADERS} ${FROM} ${OF_LOG}`),
      id: db.prepare('SELECT id FROM streams WHERE name = ?'),
      streams: db.prepare(
        'SELECT id, name FROM streams s WHERE id > ? AND substr(name, 1, length(?)) = ? AND NOT EXISTS (SELECT 1 FROM ' +
          'events e WHERE e.stream = s.id AND e.revision = 0 AND +e.position > ?) ORDER BY id LIMIT ?',
      ),
      head: db.prepare(
        'SELECT revision, at, lower(hex(substr(proof, 1, 32))) AS hash FROM events WHERE stream = ? AND +position <= ? ' +
          'ORDER BY revision DESC LIMIT 1',
      ),
      hashes: db.prepare(
        'SELECT lower(hex(substr(proof, 1, 32))) AS hash FROM events WHERE position BETWEEN ? AND ? ORDER BY position',
      ),
      at: db.prepare('SELECT lower(hex(substr(proof, 1, 32))) AS hash FROM events WHERE position = ?'),
      last: db.prepare(
        'SELECT position, lower(hex(substr(proof, 1, 32))) AS hash FROM events ORDER BY position DESC LIMIT 1',
      ),
      dataVersion: db.prepare('PRAGMA data_version'),
      erasures: db.prepare('SELECT count(*) AS n FROM erasures'),
    }
  }

  /** The id of a stream; null if the stream does not exist. */
  streamId(stream: string): number | null {
    return (this.#sql.id.get(stream)?.id as number | undefined) ?? null
  }

  /** The stream's last event up to a position of the log. */
  head(stream: number, upTo: number): Head | null {
    const row = this.#sql.head.get(stream, upTo)
    return row ? { revision: Number(row.revision), hash: String(row.hash), timestamp: Number(row.at) } : null
  }

  /** Position and hash of the log's last event. Position 0: the log is empty. */
  last(): Last {
    const row = this.#sql.last.get()
    return { position: Number(row?.position ?? 0), hash: String(row?.hash ?? '') }
  }

  /** The hashes of the events at positions `from` to `to`, inclusive. */
  hashes(from: number, to: number): string[] {
    return this.#sql.hashes.all(from, to).map(({ hash }) => String(hash))
  }

  /** A value that changes after each commit of another connection. */
  dataVersion(): number {
    return Number(this.#sql.dataVersion.get()?.data_version)
  }

  /** The number of erased bodies. */
  erasures(): number {
    return Number(this.#sql.erasures.get()?.n)
  }

  /** Events `from` to `to` of a stream, inclusive. As many as fit into a page, at most `limit`. */
  streamPage(stream: number, from: number, to: number, limit: number, bodies: boolean): RecordedEvent[] {
    return this.#page(bodies ? this.#sql.stream : this.#sql.streamHeaders, [stream, from, to], limit)
  }

  /** {@link streamPage} for events of some types. */
  streamTypesPage(
    stream: number,
    from: number,
    to: number,
    bodies: boolean,
    types: readonly string[],
  ): RecordedEvent[] {
    const statement = bodies ? this.#sql.streamTypes : this.#sql.streamTypesHeaders
    return this.#page(statement, [stream, from, to, JSON.stringify(types)], PAGE_EVENTS)
  }

  /** Events at positions `from` to `to`, inclusive. As many as fit into a page, at most `limit`. */
  logPage(from: number, to: number, limit: number, bodies: boolean): RecordedEvent[] {
    return this.#page(bodies ? this.#sql.log : this.#sql.logHeaders, [from, to], limit)
  }

  #page(statement: StatementSync, range: (number | string)[], limit: number): RecordedEvent[] {
    const events: RecordedEvent[] = []
    let bytes = 0
    for (const values of statement.iterate(...range, Math.min(limit, PAGE_EVENTS))) {
      const row = values as unknown as LogRow
      const event = fromRow(row, this.#names.kind(row[3]), this.#names.origin(row[4]))
      events.push(event)
      bytes += event.body?.length ?? 0
      if (bytes >= PAGE_BYTES) break
    }
    return events
  }

  /** Streams whose names begin with `prefix`, with ids after `after`, born up to a position of the log. */
  streamsPage(after: number, prefix: string, upTo: number): { id: number; name: string }[] {
    const rows = this.#sql.streams.all(after, prefix, prefix, upTo, PAGE_EVENTS)
    return rows.map((row) => ({ id: Number(row.id), name: String(row.name) }))
  }

  /** Throws `CURSOR_MISMATCH` unless the event at the cursor's position has the cursor's hash. */
  check(cursor: Cursor, logId: string): void {
    if (cursor.logId === logId && this.#sql.at.get(cursor.position)?.hash === cursor.hash) return
    const why = cursor.logId === logId ? 'of a later or other state of this log' : `of log ${cursor.logId}`
    throw cursorError('CURSOR_MISMATCH', `the cursor is ${why}, and this is log ${logId}; read from the start again`)
  }
}
