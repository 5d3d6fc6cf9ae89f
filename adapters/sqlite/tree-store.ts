import { DatabaseSync } from 'node:sqlite'
import { type Cursor, formatCursor } from '../../domain/log/cursor.ts'
import { type Edge, edgeBytes, eventLeaf, parseEdge } from '../../domain/log/proof/tree.ts'
import { TILE_WIDTH, type Tile } from '../../domain/log/proof/tree-proof.ts'
import type {
  Failure,
  FailureSubject,
  SignedHead,
  StoredTree,
  TreeGrowth,
  TreeLeaf,
  TreeStore,
} from '../../domain/ports/proof.ts'
import { treeMoved } from '../../domain/proof/errors.ts'
import { parseStoredTree } from '../../domain/proof/stored-tree.ts'
import { ensurePrivate } from '../files/private.ts'
import { openToRead } from './open-to-read.ts'

const BUSY_MS = 5_000

/**
 * `hashes` has the levels from 1 on: level 0 follows from the events of the log. `positions` has the first leaf of each
 * run of leaves at adjacent positions, so a log without gaps needs one row.
 */
const CREATE = `
CREATE TABLE IF NOT EXISTS tree(id INTEGER PRIMARY KEY CHECK(id = 1), edge BLOB NOT NULL, cursor TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS hashes(level INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY(level, number)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS positions(leaf INTEGER PRIMARY KEY, position INTEGER NOT NULL UNIQUE) STRICT;
CREATE TABLE IF NOT EXISTS heads(number INTEGER PRIMARY KEY, origin TEXT NOT NULL, size INTEGER NOT NULL,
  note TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS heads_size ON heads(origin, size);
CREATE TRIGGER IF NOT EXISTS heads_no_update BEFORE UPDATE ON heads BEGIN SELECT RAISE(ABORT, 'heads are final'); END;
CREATE TRIGGER IF NOT EXISTS heads_no_delete BEFORE DELETE ON heads BEGIN SELECT RAISE(ABORT, 'heads are final'); END;
CREATE TABLE IF NOT EXISTS failures(subject TEXT PRIMARY KEY, message TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
`

/** Reads the chain hashes (hex) of the events at positions `from` to `to`, inclusive, in order. */
export type ReadHashes = (from: number, to: number) => Promise<readonly string[]>

/** The tree of an embedded log, in one SQLite file beside the log. */
export class SqliteTreeStore implements TreeStore {
  readonly #db: DatabaseSync
  readonly #hashes: ReadHashes
  readonly #sql

  constructor(path: string, mode: 'owner' | 'reader', hashes: ReadHashes) {
    if (mode === 'owner') ensurePrivate(path)
    const db = mode === 'reader' ? openToRead(path, BUSY_MS) : new DatabaseSync(path, { timeout: BUSY_MS })
    try {
      if (mode === 'owner') db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${CREATE}`)
      this.#sql = {
        load: db.prepare('SELECT edge, cursor FROM tree'),
        save: db.prepare('INSERT OR REPLACE INTO tree(id, edge, cursor) VALUES (1, ?, ?)'),
        hash: db.prepare('INSERT INTO hashes(level, number, hash) VALUES (?, ?, ?)'),
        tile: db.prepare('SELECT hash FROM hashes WHERE level = ? AND number >= ? AND number < ? ORDER BY number'),
        run: db.prepare('INSERT INTO positions(leaf, position) VALUES (?, ?)'),
        lastRun: db.prepare('SELECT leaf, position FROM positions ORDER BY leaf DESC LIMIT 1'),
        runs: db.prepare(
          'SELECT leaf, position FROM positions WHERE leaf < ? AND leaf >= ' +
            '(SELECT ifnull(max(leaf), 0) FROM positions WHERE leaf <= ?) ORDER BY leaf',
        ),
        at: db.prepare('SELECT leaf, position FROM positions WHERE position <= ? ORDER BY position DESC LIMIT 1'),
        after: db.prepare('SELECT min(leaf) AS leaf FROM positions WHERE position > ?'),
        head: db.prepare('INSERT INTO heads(origin, size, note, at) VALUES (?, ?, ?, ?)'),
        headOf: db.prepare('SELECT 1 FROM heads WHERE origin = ? AND size = ?'),
        last: db.prepare('SELECT * FROM heads WHERE ? IS NULL OR origin = ? ORDER BY number DESC LIMIT 1'),
        heads: db.prepare('SELECT * FROM heads WHERE number > ? ORDER BY number LIMIT ?'),
        fail: db.prepare('INSERT OR REPLACE INTO failures(subject, message, at) VALUES (?, ?, ?)'),
        well: db.prepare('DELETE FROM failures WHERE subject = ?'),
        failures: db.prepare('SELECT * FROM failures'),
      }
    } catch (error) {
      db.close()
      throw error
    }
    this.#db = db
    this.#hashes = hashes
  }

  async load(): Promise<StoredTree | null> {
    const row = this.#sql.load.get()
    if (row === undefined) return null
    return parseStoredTree(row.edge as Uint8Array, String(row.cursor))
  }

  async grow({ edge, cursor, hashes, leaves, head }: TreeGrowth): Promise<void> {
    this.#transaction(() => {
      const stored = this.#sql.load.get()?.edge
      const size = stored === undefined ? 0 : parseEdge(stored as Uint8Array).size
      if (size !== edge.size - leaves.length) throw treeMoved()
      this.#keep(edge, cursor, leaves)
      for (const { level, index, hash } of hashes) this.#sql.hash.run(level, index, hash)
      if (head === null) return
      if (this.#sql.headOf.get(head.origin, head.size) !== undefined) throw treeMoved()
      this.#sql.head.run(head.origin, head.size, head.note, head.at)
    })
  }

  #keep(edge: Edge, cursor: Cursor, leaves: readonly TreeLeaf[]): void {
    let leaf = edge.size - leaves.length
    const last = this.#sql.lastRun.get()
    let expected = last === undefined ? null : Number(last.position) + leaf - Number(last.leaf)
    for (const { position } of leaves) {
      if (position !== expected) this.#sql.run.run(leaf, position)
      expected = position + 1
      leaf += 1
    }
    this.#sql.save.run(edgeBytes(edge), formatCursor(cursor))
  }

  async tile({ level, index, width }: Tile): Promise<Uint8Array> {
    const first = index * TILE_WIDTH
    if (level > 0)
      return Buffer.concat(this.#sql.tile.all(level, first, first + width).map(({ hash }) => hash as Uint8Array))
    return Buffer.concat((await this.#leaves(first, first + width)).map(eventLeaf))
  }

  /** The chain hashes of the leaves `from` to `to`, exclusive. */
  async #leaves(from: number, to: number): Promise<string[]> {
    const found: string[] = []
    for (const { position, count } of this.#runs(from, to))
      found.push(...(await this.#hashes(position, position + count - 1)))
    return found
  }

  async positions(first: number, count: number): Promise<readonly number[]> {
    const end = Math.min(first + count, (await this.load())?.edge.size ?? 0)
    return this.#runs(first, end).flatMap((run) => Array.from({ length: run.count }, (_, n) => run.position + n))
  }

  /** The runs of leaves at adjacent positions among the leaves `from` to `to`, exclusive. */
  #runs(from: number, to: number): { readonly position: number; readonly count: number }[] {
    const runs = this.#sql.runs.all(to, from).map((row) => ({ leaf: Number(row.leaf), position: Number(row.position) }))
    return runs.map(({ leaf, position }, at) => {
      const start = Math.max(from, leaf)
      return { position: position + start - leaf, count: Math.min(to, runs[at + 1]?.leaf ?? to) - start }
    })
  }

  async indexOf(position: number): Promise<number | null> {
    const run = this.#sql.at.get(position)
    if (run === undefined) return null
    const leaf = Number(run.leaf) + position - Number(run.position)
    const end = this.#sql.after.get(position)?.leaf ?? (await this.load())?.edge.size ?? 0
    return leaf < Number(end) ? leaf : null
  }

  async lastHead(origin?: string): Promise<SignedHead | null> {
    const row = this.#sql.last.get(origin ?? null, origin ?? null)
    return row === undefined ? null : headOf(row)
  }

  async heads(after: number, limit: number) {
    return this.#sql.heads.all(after, limit).map((row) => ({ ...headOf(row), number: Number(row.number) }))
  }

  async clear(): Promise<void> {
    this.#transaction(() => this.#db.exec('DELETE FROM tree; DELETE FROM hashes; DELETE FROM positions'))
  }

  async report(subject: FailureSubject, failure: Failure | null): Promise<void> {
    if (failure === null) this.#sql.well.run(subject)
    else this.#sql.fail.run(subject, failure.message, failure.at)
  }

  async failures() {
    return new Map(
      this.#sql.failures
        .all()
        .map(({ subject, message, at }) => [
          String(subject) as FailureSubject,
          { message: String(message), at: Number(at) },
        ]),
    )
  }

  /** Copies the store into a new file. */
  backup(path: string): void {
    ensurePrivate(path)
    this.#db.prepare('VACUUM INTO ?').run(path)
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close()
  }

  #transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#db.exec('COMMIT')
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
  }
}

type Row = Readonly<Record<string, unknown>>

const headOf = ({ origin, size, note, at }: Row): SignedHead => ({
  origin: String(origin),
  size: Number(size),
  note: String(note),
  at: Number(at),
})
