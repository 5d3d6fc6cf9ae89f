import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import { Projections } from '../../../projections/index.ts'
import type { Bench, Case } from '../bench.ts'
import { least, rate } from '../figure.ts'
import { paired } from '../measure.ts'

// Catch-up of the tables from an empty folder, against a bare insert of the rows that they hold in the end.

export const tables: Case = {
  name: 'tables',
  async run(bench: Bench) {
    const { data } = await bench.long()
    const log = await openSqliteLog({ folder: paths(data).log, mode: 'reader' })
    const events = (await log.headCursor()).position
    const blobs = new FileBlobs(paths(data).blobs)
    const folder = join(bench.folder, 'tables')
    const copy = new Copy(liveFile(paths(data).tables)!, join(bench.folder, 'rows.db'))
    const catchUp = async () => {
      rmSync(folder, { recursive: true, force: true })
      const projections = await Projections.open({ folder, log, blobs })
      await projections.close()
    }
    const pairs = await paired(bench.quick ? 2 : 3, catchUp, () => copy.write())
    await log.close()
    const { ours, floor } = pairs.of('cpuMs')
    const value = events / (ours / 1000)
    return [
      {
        name: 'catch-up into SQL',
        ours: rate(value, 'ev'),
        floor: rate(events / (floor / 1000), 'ev'),
        value,
        goal: least(40_000, ' ev/s'),
        note: 'per CPU second; floor: bare insert of the final rows',
      },
    ]
  },
}

/** The rows of a file, to be written into another with its schema. The index of words, a virtual table, is left out. */
class Copy {
  readonly #path: string
  readonly #schema: string
  readonly #tables: { readonly name: string; readonly rows: SQLOutputValue[][] }[]

  constructor(from: string, path: string) {
    this.#path = path
    const db = new DatabaseSync(from, { readOnly: true })
    const made = db
      .prepare(
        `SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL AND name NOT LIKE 'sqlite%'
          AND name NOT IN (SELECT name FROM pragma_table_list WHERE type IN ('virtual', 'shadow'))`,
      )
      .all()
    this.#schema = made.map(({ sql }) => `${sql};`).join('\n')
    this.#tables = made
      .filter(({ type }) => type === 'table')
      .map(({ name }) => {
        const all = db.prepare(`SELECT * FROM "${name}"`)
        all.setReturnArrays(true)
        return { name: String(name), rows: all.all() as unknown as SQLOutputValue[][] }
      })
    db.close()
  }

  write(): void {
    for (const end of ['', '-wal', '-shm']) rmSync(this.#path + end, { force: true })
    const db = new DatabaseSync(this.#path)
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${this.#schema}`)
    for (const { name, rows } of this.#tables) {
      if (rows.length === 0) continue
      const insert = db.prepare(`INSERT INTO "${name}" VALUES (${rows[0]!.map(() => '?')})`)
      for (let at = 0; at < rows.length; at += 512) {
        db.exec('BEGIN')
        for (const row of rows.slice(at, at + 512)) insert.run(...row)
        db.exec('COMMIT')
      }
    }
    db.close()
  }
}
