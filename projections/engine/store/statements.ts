import { type Kysely, sql } from 'kysely'
import type { Cells } from '../changes/change.ts'
import type { RowOp } from '../changes/collapse.ts'
import type { Database } from '../schema/database.ts'
import { specOf } from '../schema/tables.ts'

/** The SQL and parameters of changes. Kysely compiles a text once per table, kind and set of columns. */
export class Statements {
  readonly #db: Kysely<Database>
  readonly #texts = new Map<string, string>()
  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** One operation on one row. Null: the operation changes nothing. */
  row(table: string, key: Cells, op: RowOp): { text: string; values: unknown[] } | null {
    const keys = specOf(table).key
    const keyValues = keys.map((name) => key[name])
    if (op.kind === 'remove') {
      const text = this.#text(`-${table}`, () => this.#remove(table, keys))
      return { text, values: keyValues }
    }
    const columns = Object.keys(op.columns)
    const values = Object.values(op.columns)
    if (op.kind === 'set') {
      if (columns.length === 0) return null
      const text = this.#text(`=${table}|${columns}`, () => this.#set(table, keys, columns))
      return { text, values: [...values, ...keyValues] }
    }
    const initials = Object.keys(op.initial).filter((name) => !(name in op.columns))
    const text = this.#text(`+${table}|${columns}|${initials}`, () => this.#put(table, keys, columns, initials))
    return { text, values: [...keyValues, ...values, ...initials.map((name) => op.initial[name])] }
  }

  /** Deletes the rows of a stream. The only parameter is the value of the owner column. */
  clear(table: string): string {
    return this.#text(`0${table}`, () => this.#remove(table, [specOf(table).owner]))
  }

  #text(id: string, make: () => string): string {
    let text = this.#texts.get(id)
    if (text === undefined) {
      text = make()
      this.#texts.set(id, text)
    }
    return text
  }

  #remove(table: string, keys: readonly string[]): string {
    return sql`delete from ${sql.table(table)} where ${matches(keys)}`.compile(this.#db).sql
  }

  #set(table: string, keys: readonly string[], columns: readonly string[]): string {
    const sets = sql.join(columns.map((name) => sql`${sql.ref(name)} = ${null}`))
    return sql`update ${sql.table(table)} set ${sets} where ${matches(keys)}`.compile(this.#db).sql
  }

  #put(table: string, keys: readonly string[], columns: readonly string[], initials: readonly string[]): string {
    const all = [...keys, ...columns, ...initials]
    const updates = columns.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`)
    const action = updates.length > 0 ? sql`update set ${sql.join(updates)}` : sql`nothing`
    return sql`insert into ${sql.table(table)} (${sql.join(all.map((name) => sql.ref(name)))})
      values (${sql.join(all.map(() => null))})
      on conflict (${sql.join(keys.map((name) => sql.ref(name)))}) do ${action}`.compile(this.#db).sql
  }
}

const matches = (keys: readonly string[]) =>
  sql.join(
    keys.map((name) => sql`${sql.ref(name)} = ${null}`),
    sql` and `,
  )
