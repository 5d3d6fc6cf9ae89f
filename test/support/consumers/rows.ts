import { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteDialect } from 'kysely'

interface Seen {
  /** `place` is the order of the inserts. An event that is seen twice has two rows. */
  seen: { id: string; place?: number }
}

/** A database of a program: a row for each event that it has seen. */
export function openRows(file: string): Kysely<Seen> {
  const database = new DatabaseSync(file, { timeout: 5_000 })
  database.exec('create table if not exists seen (place integer primary key autoincrement, id text not null)')
  const prepare = (text: string) => {
    const statement = database.prepare(text)
    type Values = Parameters<typeof statement.all>
    return {
      reader: statement.columns().length > 0,
      all: (values: readonly unknown[]) => statement.all(...(values as Values)),
      run: (values: readonly unknown[]) => statement.run(...(values as Values)),
      iterate: (values: readonly unknown[]) => statement.iterate(...(values as Values)),
    }
  }
  return new Kysely<Seen>({ dialect: new SqliteDialect({ database: { prepare, close: () => database.close() } }) })
}
