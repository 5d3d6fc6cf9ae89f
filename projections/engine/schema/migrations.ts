import { type CreateTableBuilder, type Kysely, sql } from 'kysely'
import { costByCause } from '../../agent/cause-view.ts'
import { KINDS } from '../../kinds.ts'
import type { ColumnSpec, TableSpec } from './columns.ts'
import type { Database } from './database.ts'
import { type Dialect, sqlite } from './dialect.ts'
import { eventRows } from './event-rows.ts'
import { keptViews } from './kept-views.ts'
import { ownTables } from './own-tables.ts'
import { specOf, tableNames } from './tables.ts'
import { views } from './views.ts'

/** The tables that a later version than 1 creates, by version, from 2 on. */
const LATER: readonly (readonly string[])[] = [
  ['principals', 'role_changes', 'access_keys', 'access_uses'],
  ['retention', 'holds', 'role_claims'],
  ['principal_links'],
]

/** The views that a version after those of {@link LATER} creates. */
const LATER_VIEWS: readonly string[] = [costByCause]

/**
 * Version 1 creates everything in schema/tables.ts and schema/views.ts but {@link LATER} and {@link LATER_VIEWS}. A later
 * version adds an entry. A change of a row's meaning needs a higher {@link ROW_MEANING} instead, so that the tables are
 * rebuilt from the log.
 */
export const migrations: readonly ((db: Kysely<Database>, dialect: Dialect) => Promise<void>)[] = [
  createAll,
  ...LATER.map((names) => (db: Kysely<Database>, dialect: Dialect) => createTables(db, dialect, names)),
  ...LATER_VIEWS.map((view) => async (db: Kysely<Database>) => void (await sql.raw(view).execute(db))),
]

/** The meaning of the rows of each table. */
export const ROW_MEANING = 16

/**
 * Tables, columns (`table.column`) and rows (`table of …`) that older programs do not make of the same log. An added name
 * makes a rebuild, no migration.
 */
export const REFILLED = [
  ...['decision_rows', 'approval_supports', 'erasures.code', 'principal_links.reason'],
  ...['cost_by_cause.unpriced_calls', 'run_texts', 'runs.continues', 'agents.session_id', 'run_annotations'],
  ...['touched_files of reported calls', 'due.at_once'],
] as const

/** The meaning of the rows of all tables. Tables with another number are rebuilt, not migrated. */
export const MEANING = ROW_MEANING + REFILLED.length

/** The version that a file of tables stores: meaning and schema in one number. */
export const TABLES_VERSION = MEANING * 1000 + migrations.length

/** The version of the views over kept events. */
const KEPT_VIEWS = 4

/**
 * The meaning of the rows in databases with kept events. Kept bodies have the shapes of this program, so each new
 * version of an event changes the meaning.
 */
export const keptMeaning = (): number =>
  [...KINDS.values()]
    .flatMap(({ versions }) => Object.values(versions))
    .reduce((sum, version) => sum + version - 1, MEANING + KEPT_VIEWS)

async function createAll(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  const later = new Set(LATER.flat())
  await createTables(
    db,
    dialect,
    tableNames().filter((name) => !later.has(name)),
  )
  if (dialect.keepsEvents) await createTable(db, dialect, 'event_rows', eventRows)
  for (const [name, spec] of Object.entries(ownTables)) await createTable(db, dialect, name, spec)
  for (const { indexes } of KINDS.values())
    for (const statement of indexes?.[dialect.name] ?? []) await sql.raw(statement).execute(db)
  const first = views(dialect).filter((view) => !LATER_VIEWS.includes(view))
  for (const view of [...first, ...(dialect.keepsEvents ? keptViews : [])]) await sql.raw(view).execute(db)
}

/** Adds the table of kept events to a SQLite file that lacks it. */
export async function createEventRows(db: Kysely<Database>): Promise<void> {
  const tables = await db.introspection.getTables()
  if (!tables.some(({ name }) => name === 'event_rows')) await createTable(db, sqlite, 'event_rows', eventRows)
}

async function createTables(db: Kysely<Database>, dialect: Dialect, names: readonly string[]): Promise<void> {
  for (const name of names) await createTable(db, dialect, name, specOf(name))
}

async function createTable(db: Kysely<Database>, dialect: Dialect, name: string, spec: TableSpec): Promise<void> {
  const { columns, key, indexes, partial, large } = spec
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name)
  for (const [column, kind] of Object.entries(columns)) table = addColumn(table, dialect, column, kind)
  await table
    .addPrimaryKeyConstraint(`pk_${name}`, [...key])
    .modifyEnd(sql.raw(large ? '' : dialect.tableSuffix))
    .execute()
  for (const index of indexes ?? []) {
    await db.schema
      .createIndex(`idx_${name}_${index.join('_')}`)
      .on(name)
      .columns([...index])
      .execute()
  }
  if (partial) {
    await db.schema
      .createIndex(`idx_${name}_partial`)
      .on(name)
      .columns([...partial.columns])
      .where(sql.raw<boolean>(partial.where))
      .execute()
  }
}

function addColumn(
  table: CreateTableBuilder<string, string>,
  { text }: Dialect,
  name: string,
  spec: ColumnSpec,
): CreateTableBuilder<string, string> {
  const isNumber = spec.startsWith('integer')
  return table.addColumn(name, isNumber ? 'bigint' : sql.raw(text), (c) => {
    if (!spec.endsWith('!')) return c
    return isNumber ? c.notNull().defaultTo(0) : c.notNull()
  })
}
