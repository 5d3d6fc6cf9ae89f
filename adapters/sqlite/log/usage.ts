import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { KINDS_OF_RUNS } from '../../../domain/log/owner.ts'

/**
 * The size of a run, or of a stream without a run: events, stored bytes of headers and bodies in the log, and bytes in
 * the blob store.
 */
export interface RunSize {
  readonly runId: string
  readonly events: number
  readonly bytes: number
  readonly blobBytes: number
}

// `ownerOf` of domain/log/owner.ts in SQL.
const OWNER = `CASE WHEN substr(s.name, 1, instr(s.name, '-') - 1) IN (${KINDS_OF_RUNS.map((kind) => `'${kind}'`).join(', ')})
  THEN ifnull(o.run_id, s.name) ELSE s.name END`

// The approximate size of a row's record header, small integers and index entry, without its texts and proof. In bytes.
const ROW = 48

const SINCE = `
  SELECT ${OWNER} AS owner, count(*) AS events,
    sum(${ROW} + length(e.proof) + octet_length(e.command) + ifnull(octet_length(e.causation), 0)
      + ifnull(octet_length(e.call), 0) + ifnull(octet_length(e.trace), 0) + ifnull(length(b.bytes), 0)) AS bytes,
    sum(iif(k.place = 'blob' AND x.fact IS NULL, e.size, 0)) AS blobs
  FROM events e JOIN origins o ON o.id = e.origin JOIN kinds k ON k.id = e.kind JOIN streams s ON s.id = e.stream
    LEFT JOIN bodies b ON b.position = e.position LEFT JOIN erasures x ON x.position = e.position
  WHERE e.position > ? AND e.position <= ? GROUP BY 1`

/**
 * The counters for "disk use per run". They are rolled up every few hundred events, in a transaction that writes
 * anyway, so that not every commit writes one more page. Queries add the events since.
 */
export class DiskUsage {
  static readonly EVERY = 256
  readonly #roll: StatementSync
  readonly #move: StatementSync
  readonly #empty: StatementSync
  readonly #stored: StatementSync
  /** Null: unknown; read it from the file. */
  #upto: number | null = null

  constructor(db: DatabaseSync) {
    this.#roll = db.prepare(
      `INSERT INTO usage(owner, events, bytes, blobs) SELECT * FROM (${SINCE}) WHERE true ON CONFLICT(owner) DO UPDATE
       SET events = events + excluded.events, bytes = bytes + excluded.bytes, blobs = blobs + excluded.blobs`,
    )
    this.#move = db.prepare('UPDATE usage_upto SET position = ?')
    this.#empty = db.prepare(
      `UPDATE usage SET bytes = bytes - ifnull((SELECT length(bytes) FROM bodies WHERE position = e.position), 0),
         blobs = blobs - iif(k.place = 'blob', e.size, 0)
       FROM events e JOIN origins o ON o.id = e.origin JOIN kinds k ON k.id = e.kind JOIN streams s ON s.id = e.stream
       WHERE e.position = ? AND e.position <= (SELECT position FROM usage_upto) AND usage.owner = ${OWNER}`,
    )
    this.#stored = db.prepare('SELECT position FROM usage_upto')
  }

  /** Call after a rollback: the transaction's roll-up is undone. */
  forget(): void {
    this.#upto = null
  }

  /** Call inside a transaction that has written up to `position`. */
  roll(position: number): void {
    this.#upto ??= Number(this.#stored.get()?.position)
    if (position - this.#upto < DiskUsage.EVERY) return
    this.#roll.run(this.#upto, position)
    this.#move.run(position)
    this.#upto = position
  }

  /** Subtracts a body that is about to be emptied. */
  emptied(position: number): void {
    this.#empty.run(position)
  }
}

/**
 * The sizes of these runs (absent: of every run), in the order of run ids. Reads counters and at most a few hundred
 * headers.
 */
export function sizesOf(db: DatabaseSync, runIds?: readonly string[]): RunSize[] {
  const wanted = runIds === undefined ? '' : 'WHERE owner IN (SELECT value FROM json_each(?))'
  const rows = db
    .prepare(
      `WITH tail AS (${SINCE})
       SELECT owner, sum(events) AS events, sum(bytes) AS bytes, sum(blobs) AS blobs
       FROM (SELECT * FROM usage UNION ALL SELECT * FROM tail) ${wanted} GROUP BY owner ORDER BY owner`
        .replace('e.position > ?', 'e.position > (SELECT position FROM usage_upto)')
        .replace('AND e.position <= ?', ''),
    )
    .all(...(runIds === undefined ? [] : [JSON.stringify(runIds)]))
  return rows.map((row) => ({
    runId: String(row.owner),
    events: Number(row.events),
    bytes: Number(row.bytes),
    blobBytes: Number(row.blobs),
  }))
}
