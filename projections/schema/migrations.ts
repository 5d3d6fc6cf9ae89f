import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely'
import type { ColumnSpec } from './columns.ts'
import type { Database } from './database.ts'
import { tableSuffix } from './dialect.ts'
import { specOf, tableNames } from './tables.ts'
import { views } from './views.ts'

/**
 * Version 1 makes everything from schema/tables.ts. A later version adds an entry; where a row's meaning changes, the
 * entry is not enough: raise {@link MEANING}, and the tables are rebuilt from the log instead.
 */
export const migrations: readonly ((db: Kysely<Database>) => Promise<void>)[] = [createAll]

/** What the rows mean. Tables made under another number are not migrated but rebuilt. */
export const MEANING = 2

async function createAll(db: Kysely<Database>): Promise<void> {
  for (const name of tableNames) {
    const { columns, key, indexes, partial } = specOf(name)
    let table = db.schema.createTable(name)
    for (const [column, spec] of Object.entries(columns)) table = addColumn(table, column, spec)
    await table
      .addPrimaryKeyConstraint(`pk_${name}`, [...key] as never)
      .modifyEnd(sql.raw(tableSuffix))
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
  await db.schema
    .createTable('position')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('log_id', 'text', (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('prepare', 'bigint')
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('events', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('streams')
    .addColumn('stream', 'text', (c) => c.primaryKey())
    .addColumn('revision', 'bigint', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .modifyEnd(sql.raw(tableSuffix))
    .execute()
  for (const view of views) await sql.raw(view).execute(db)
}

interface AddsColumns<T> {
  addColumn(name: string, type: 'text' | 'bigint', build: (c: ColumnDefinitionBuilder) => ColumnDefinitionBuilder): T
}

function addColumn<T extends AddsColumns<T>>(table: T, name: string, spec: ColumnSpec): T {
  const type = spec.startsWith('integer') ? 'bigint' : 'text'
  return table.addColumn(name, type, (c) => {
    if (!spec.endsWith('!')) return c
    return type === 'bigint' ? c.notNull().defaultTo(0) : c.notNull()
  })
}
