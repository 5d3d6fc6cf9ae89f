import { constants, type DatabaseSync, type StatementSync } from 'node:sqlite'
import { selectIn } from '../../../operations/sql/auditor.ts'

/** The text is not a single read-only statement. */
export class NoQuestion extends Error {
  override readonly name = 'NoQuestion'
}

/** Prepares a single SELECT. Throws {@link NoQuestion} for anything else, and for more than one statement. */
export function question(db: DatabaseSync, text: string): StatementSync {
  const one = selectIn(text)
  if (one === null) throw new NoQuestion('this is no SELECT')
  try {
    // A FROM clause accepts only a single query.
    db.prepare(`select * from (\n${one}\n)`)
    const statement = db.prepare(one)
    statement.setReadBigInts(true)
    return statement
  } catch (error) {
    throw new NoQuestion((error as Error).message)
  }
}

/** The actions that reading needs. All others are refused. */
const READING: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_RECURSIVE,
  constants.SQLITE_FUNCTION,
])
/** Functions with effects outside the database. */
const OUTWARD: ReadonlySet<string> = new Set(['load_extension', 'fts3_tokenizer', 'readfile', 'writefile', 'edit'])
/** The full-text index of the memory facts reads this PRAGMA. */
const INDEX_PRAGMA = 'data_version'

/**
 * Restricts the connection to reading the tables and the views over the log: no ATTACH, no PRAGMA, no new tables. The
 * log's own tables are readable only through the views.
 */
export function onlyReading(db: DatabaseSync): void {
  db.setAuthorizer((action, first, second, schema, view) => {
    const allowed =
      action === constants.SQLITE_READ
        ? // An empty column: only a row count, also of a view, whose name is then null.
          schema !== 'log' || view !== null || second === ''
        : action === constants.SQLITE_PRAGMA
          ? first === INDEX_PRAGMA && second === null
          : READING.has(action) && !OUTWARD.has(second?.toLowerCase() ?? '')
    return allowed ? constants.SQLITE_OK : constants.SQLITE_DENY
  })
}
