import { constants, type DatabaseSync, type StatementSync } from 'node:sqlite'
import { selectIn } from '../../../operations/sql/auditor.ts'

/** The text is not one question that may be asked. */
export class NoQuestion extends Error {
  override readonly name = 'NoQuestion'
}

/** Prepares a text that only reads. Throws {@link NoQuestion} for everything else, and for more than one statement. */
export function question(db: DatabaseSync, text: string): StatementSync {
  const one = selectIn(text)
  if (one === null) throw new NoQuestion('this is no SELECT')
  try {
    // Nothing but one query can stand in a FROM.
    db.prepare(`select * from (\n${one}\n)`)
    const statement = db.prepare(one)
    statement.setReadBigInts(true)
    return statement
  } catch (error) {
    throw new NoQuestion((error as Error).message)
  }
}

/** What reading needs; every other action is refused. */
const READING: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_RECURSIVE,
  constants.SQLITE_FUNCTION,
])
/** Functions that reach out of the database. */
const OUTWARD: ReadonlySet<string> = new Set(['load_extension', 'fts3_tokenizer', 'readfile', 'writefile', 'edit'])
/** The index over the facts of the memory asks for this. */
const INDEX_PRAGMA = 'data_version'

/**
 * From now on the connection reads the tables and the views over the log, and does nothing else: no ATTACH, no PRAGMA, no
 * table of its own. The log's own tables are read through the views only.
 */
export function onlyReading(db: DatabaseSync): void {
  db.setAuthorizer((action, first, second, schema, view) => {
    const allowed =
      action === constants.SQLITE_READ
        ? // Without a column: rows are only counted, for a view too, which is not named then.
          schema !== 'log' || view !== null || second === ''
        : action === constants.SQLITE_PRAGMA
          ? first === INDEX_PRAGMA && second === null
          : READING.has(action) && !OUTWARD.has(second?.toLowerCase() ?? '')
    return allowed ? constants.SQLITE_OK : constants.SQLITE_DENY
  })
}
