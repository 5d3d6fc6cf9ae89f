// @module-tag git
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runExport } from '../../../api/operations/export/export-thread.ts'
import { localSource } from '../../../api/operations/export/local-source.ts'
import { PROOF_STREAM } from '../../../domain/proof/kind.ts'
import { expectedEvents, plainRow } from '../../support/exports/read-back.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

// The examples of the docs in DuckDB, and what DuckDB reads.

const world = await openWorld()
const { services } = world
afterAll(() => world.close())
const docs = join(import.meta.dirname, '../../../api/docs')
const page = readFileSync(join(docs, 'export.md'), 'utf8')
const folder = world.root

beforeAll(async () => {
  const run = await world.driven('finish, and keep this', { workspace: world.workspace() })
  await world.driven('finish in a folder', { workspace: world.workspace() })
  await vi.waitFor(async () => expect(await services.log.head(PROOF_STREAM)).not.toBeNull(), { timeout: 30_000 })
  const erased = await world.ask('POST', `/v1/runs/${run}/erase`, { body: { all: true, reason: 'asked' } })
  expect(erased.status).toBe(200)
  const work = { folder: join(folder, 'exported'), events: { since: null }, tables: true }
  await runExport({ ...work, format: 'parquet' }, localSource(services))
  await runExport({ ...work, folder: join(folder, 'csv'), format: 'csv' }, localSource(services))
})

async function connected() {
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  await db.run(`set timezone = 'UTC'; set file_search_path = '${folder}'`)
  const ask = async (sql: string) => (await db.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[]
  return { db, ask }
}

const isoOf = (text: unknown) => new Date(String(text).replace(' ', 'T').replace('+00', 'Z')).toISOString()

test('DuckDB reads every event with its values, and the types of the docs', async () => {
  const { ask } = await connected()
  const rows = await ask(
    "select * from read_parquet('exported/events/*/*.parquet', hive_partitioning = false) order by position",
  )
  const plain = rows.map((row) => plainRow({ ...row, time: isoOf(row.time) }))
  expect(plain).toEqual(await expectedEvents(services))
  const types = await ask("describe select * from 'exported/events/*/*.parquet'")
  const of = (name: string) => types.find(({ column_name }) => column_name === name)?.column_type
  expect(['position', 'revision', 'time', 'claimed', 'payload', 'day'].map(of)).toEqual([
    ...['BIGINT', 'INTEGER', 'TIMESTAMP WITH TIME ZONE', 'BOOLEAN', 'JSON', 'DATE'],
  ])
})

test('CSV and Parquet hold the same for DuckDB', async () => {
  const { ask } = await connected()
  const of = (file: string) =>
    ask(`select event_id, actor_id, tool_call_id, payload::varchar as payload from ${file} order by position`)
  const csv = await of("read_csv('csv/events/*/*.csv', all_varchar = true, allow_quoted_nulls = false)")
  expect([...csv].sort(byId)).toEqual([...(await of("'exported/events/*/*.parquet'"))].sort(byId))
})

const byId = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  String(a.event_id) < String(b.event_id) ? -1 : 1

test('the questions of the docs have answers that the log has too', async () => {
  const { db, ask } = await connected()
  const [views, types, tools] = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql!)
  await db.run(views!)
  const events = await eventsIn(services)
  const found = await ask(types!)
  expect(Object.fromEntries(found.map(({ type, events: count }) => [type, Number(count)]))).toEqual(
    Object.fromEntries([...Map.groupBy(events, ({ header }) => header.type)].map(([type, all]) => [type, all.length])),
  )
  expect(found.reduce((sum, { erased }) => sum + Number(erased), 0)).toBe(events.filter(({ erased }) => erased).length)
  expect((await ask(tools!)).length).toBeGreaterThan(0)
})

test('the views of the dashboard answer, and agree with the API', async () => {
  const { db, ask } = await connected()
  const text = readFileSync(join(docs, 'examples/dashboard-duckdb/dashboard.sql'), 'utf8')
  await db.run(text)
  const names = [...text.matchAll(/create or replace view (\w+)/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(6)
  for (const name of names) expect(await ask(`select * from ${name}`), name).toBeDefined()
  const { total } = await bodyOf<{ total: { inputTokens: number; outputTokens: number } }>(
    await world.ask('GET', '/v1/cost'),
  )
  const [sums] = await ask('select sum(input_tokens) as input, sum(output_tokens) as output from cost_per_day')
  expect(Number(sums!.output)).toBe(total.outputTokens)
  const [{ runs } = {}] = await ask('select sum(runs) as runs from runs_per_day')
  expect(Number(runs)).toBe(2)
})

test('the program of the docs runs', async () => {
  const program = /```js\n(.*?)```/s.exec(page)![1]!
  expect(program).toContain('@duckdb/node-api')
  const { ask } = await connected()
  const [, sql] = /runAndReadAll\("(.*)"\)/.exec(program)!
  expect(await ask(sql!)).toEqual([{ status: 'completed', 'count_star()': '2' }])
})
