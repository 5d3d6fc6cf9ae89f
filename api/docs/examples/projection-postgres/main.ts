import { openKeepUp } from '@keepup/runtime'
import type { RowHandler } from '@keepup/runtime/consumers'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

interface Tables {
  ends: { run: string; how: string; at: string }
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
await db.schema
  .createTable('ends')
  .ifNotExists()
  .addColumn('run', 'text', (column) => column.primaryKey())
  .addColumn('how', 'text', (column) => column.notNull())
  .addColumn('at', 'text', (column) => column.notNull())
  .execute()

const ends: RowHandler<Tables> = async (events, tx) => {
  for (const { runId: run, type: how, timestamp: at } of events)
    await tx.insertInto('ends').values({ run, how, at }).execute()
}

const keepup = await openKeepUp({
  data: 'data',
  by: 'ada',
  scripts: { hello: { script: 1, turns: [{ calls: [{ tool: 'complete_task', arguments: { summary: 'Hello.' } }] }] } },
})
const { runId } = await keepup.start({ task: 'say hello', model: process.env.MODEL ?? 'scripted:hello' })
await keepup.drive(runId)
await keepup.consume({ name: 'ends', filter: { types: ['completion', 'error'] }, positionIn: db, once: true }, ends)
console.log(await db.selectFrom('ends').selectAll().execute())
await keepup.close()
await db.destroy()
