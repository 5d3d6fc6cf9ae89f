import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Kysely, SqliteDialect } from 'kysely'
import type { Database } from '../schema/database.ts'

/** A `node:sqlite` connection with a cache of prepared statements, and Kysely over the same connection. */
export interface Connection {
  readonly raw: DatabaseSync
  readonly db: Kysely<Database>
  prepare(text: string): StatementSync
  /** Closes the connection; a second call has no effect. */
  close(): void
}

// Maximum number of cached statements, because some SQL is generated; the oldest statement is dropped first.
const MAX_STATEMENTS = 500

/** Maximum wait for the lock of another connection, ms. */
export const BUSY_MS = 10_000

/**
 * Opens a projections file; mode `write` creates a missing one. Commits are not synced one by one
 * (`synchronous=NORMAL`), because the tables can always be rebuilt: after a power cut both the position and the rows
 * may be older.
 */
export function connectSqlite(path: string, mode: 'write' | 'read'): Connection {
  const raw = new DatabaseSync(path, {
    readOnly: mode === 'read',
    enableForeignKeyConstraints: false,
    timeout: BUSY_MS,
  })
  // Free pages must not contain erased content.
  if (mode === 'write') raw.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma secure_delete = on')
  raw.exec('pragma cache_size = -16000; pragma temp_store = memory')
  const statements = new Map<string, StatementSync>()
  const prepare = (text: string) => {
    let statement = statements.get(text)
    if (statement) return statement
    if (statements.size >= MAX_STATEMENTS) statements.delete(statements.keys().next().value!)
    statement = raw.prepare(text)
    statements.set(text, statement)
    return statement
  }
  const db = new Kysely<Database>({ dialect: new SqliteDialect({ database: kyselyView(raw, prepare) }) })
  let open = true
  return {
    raw,
    db,
    prepare,
    close() {
      if (open) raw.close()
      open = false
    },
  }
}

function kyselyView(raw: DatabaseSync, prepare: (text: string) => StatementSync) {
  return {
    close: () => raw.close(),
    prepare(text: string) {
      const statement = prepare(text)
      const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
      return {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...values(parameters)),
        run: (parameters: readonly unknown[]) => statement.run(...values(parameters)),
        iterate: (parameters: readonly unknown[]) => statement.iterate(...values(parameters)),
      }
    },
  }
}
