import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { Projector } from '../../../projections/projector/projector.ts'
import { specOf, tableNames } from '../../../projections/schema/tables.ts'
import { openSqliteStore } from '../../../projections/store/sqlite.ts'
import type { MemoryLog } from './memory-log.ts'

export type Dump = Record<string, Record<string, unknown>[]>

/** A folder that is gone after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'projections-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Every row of every table, in order of its key. */
export function dump(file: string): Dump {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = (table: string, key: readonly string[]) =>
      db.prepare(`select * from "${table}" order by ${key.map((name) => `"${name}"`).join()}`).all()
    const all = tableNames.map((table) => [table, rows(table, specOf(table).key)] as const)
    const rest = [['position', rows('position', ['id'])] as const, ['streams', rows('streams', ['stream'])] as const]
    return Object.fromEntries([...all, ...rest].map(([table, found]) => [table, found.map((row) => ({ ...row }))]))
  } finally {
    db.close()
  }
}

/** A projector over its own file, folded up to the log's head. */
export async function projected(log: MemoryLog, file: string, reader?: number) {
  const store = await openSqliteStore(file)
  const projector = new Projector({ log, blobs: log.blobs, store, ...(reader === undefined ? {} : { reader }) })
  await projector.catchUp()
  return { store, projector }
}

/** The tables that one fold from zero makes. */
export async function folded(log: MemoryLog, file: string): Promise<Dump> {
  const { store } = await projected(log, file)
  await store.close()
  return dump(file)
}
