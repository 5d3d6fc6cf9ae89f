import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { openKeepUp } from '@keepup/runtime'

const keepup = await openKeepUp({
  data: 'data',
  by: 'ada',
  scripts: { hello: { script: 1, turns: [{ calls: [{ tool: 'complete_task', arguments: { summary: 'Hello.' } }] }] } },
})
const { runId } = await keepup.start({ task: 'say hello', model: process.env.MODEL ?? 'scripted:hello' })
await keepup.drive(runId)
const { rows } = await keepup.exportEvents({ to: 'exported' })
const { tables } = await keepup.exportTables({ to: 'exported' })
console.log(`${rows} events, ${tables.runs} runs`)
await keepup.close()

const db = await (await DuckDBInstance.create(':memory:')).connect()
await db.run("set timezone = 'UTC'")
await db.run(readFileSync(`${import.meta.dirname}/dashboard.sql`, 'utf8'))
for (const view of ['runs_per_day', 'cost_per_day', 'tools']) {
  const answer = await db.runAndReadAll(`select * from ${view}`)
  console.log(view, JSON.stringify(answer.getRowObjectsJson()))
}
