import type pg from 'pg'
import type { TableSpec } from '../schema/columns.ts'
import { postgres } from '../schema/dialect.ts'
import { eventRows } from '../schema/event-rows.ts'
import { keptViews } from '../schema/kept-views.ts'
import { ownTables } from '../schema/own-tables.ts'
import { specOf, tableNames } from '../schema/tables.ts'
import { views } from '../schema/views.ts'
import { type Relation, relationsOf } from './catalog.ts'

/** Every table of a generation. */
export const described = (): readonly (readonly [string, TableSpec])[] => [
  ...Object.entries(ownTables),
  ...tableNames().map((name) => [name, specOf(name)] as const),
  ['event_rows', eventRows],
]

const namesIn = (pattern: RegExp) => [...views(postgres), ...keptViews].flatMap((text) => pattern.exec(text)?.[1] ?? [])
const VIEWS = namesIn(/^create view (\w+)/)

/** Names of the tables and views that this program creates in a generation. Only these are dropped. */
const ownNames = () => [...described().map(([table]) => table), ...VIEWS]

/** Names of the functions that this program creates in a generation. */
export const ownRoutines: readonly string[] = namesIn(/^create function (\w+)/)

/** The relations of a generation that this program created. */
export async function ownIn(client: pg.PoolClient, tables: string): Promise<readonly Relation[]> {
  const own = new Set(ownNames())
  return (await relationsOf(client, tables)).filter(({ name }) => own.has(name))
}

const COLUMNS = `select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type,
    a.attnotnull as required, a.atthasdef as filled
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace s on s.oid = c.relnamespace
  where s.nspname = $1 and c.relkind in ('r', 'v') and a.attnum > 0 and not a.attisdropped`

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly required: boolean
  readonly filled: boolean
}

/** A foreign change of a generation's tables that would stop a writer, in words; null: none. */
export async function shapeFault(client: pg.PoolClient, schema: string): Promise<string | null> {
  const { rows } = await client.query<Column>(COLUMNS, [schema])
  const found = new Map(rows.map((row) => [`${row.table}.${row.column}`, row]))
  const relations = new Set(rows.map(({ table }) => table))
  const lost = ownNames().filter((name) => !relations.has(name))
  if (lost.length > 0) return `${lost[0]} is gone${lost.length > 1 ? `, and ${lost.length - 1} more` : ''}`
  for (const [table, { columns }] of described()) {
    for (const [column, kind] of Object.entries(columns)) {
      const there = found.get(`${table}.${column}`)
      found.delete(`${table}.${column}`)
      const type = kind.startsWith('integer') ? 'bigint' : 'text'
      if (!there) return `${table} has lost its column ${column}`
      if (there.type !== type) return `${table}.${column} is ${there.type}, not ${type}`
      if (there.required && !kind.endsWith('!')) return `${table}.${column} must not be null now`
    }
  }
  const names = new Set(described().map(([table]) => table))
  const alien = [...found.values()].find((one) => names.has(one.table) && one.required && !one.filled)
  return alien ? `${alien.table} has got a column ${alien.column} that must be filled` : null
}
