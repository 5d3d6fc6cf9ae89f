// Catch-up of the projections into each database, and what the queries cost behind it.
// `node test/bench/projections.ts [turns] [agents]` prints a line per figure.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import { findCheckpoint, selectCheckpoints, usageAt } from '../../projections/agent/queries/checkpoints.ts'
import { showRun } from '../../projections/agent/queries/run.ts'
import { selectRuns } from '../../projections/agent/queries/runs.ts'
import { PostgresHome } from '../../projections/engine/postgres/home.ts'
import { openPool } from '../../projections/engine/postgres/pool.ts'
import { Projector } from '../../projections/engine/projector/projector.ts'
import { dueBefore } from '../../projections/engine/queries/due.ts'
import type { Database as Tables } from '../../projections/engine/schema/database.ts'
import { connectSqlite } from '../../projections/engine/store/database.ts'
import { openSqliteStore } from '../../projections/engine/store/sqlite.ts'
import type { Store } from '../../projections/engine/store/store.ts'
import { found, PostgresServer } from '../support/postgres/postgres-server.ts'
import { MemoryLog } from '../support/projections/memory-log.ts'
import { HASH } from '../support/projections/spec.ts'
import { Actor } from '../support/projections/story.ts'

const [turns = 100, agents = 100] = process.argv.slice(2).map(Number)

/** Runs with `turns` steady turns each: a model call, one tool call, 300 to 3,000 bytes of result. */
function steady(): MemoryLog {
  const log = new MemoryLog()
  let at = Date.UTC(2026, 0, 1)
  const actors = Array.from({ length: agents }, (_, i) => new Actor(log, () => ++at, `r${i}`, `r${i}`))
  for (const actor of actors) {
    actor.start()
    actor.user('user_input', { text: 'do it' })
  }
  for (let turn = 1; turn <= turns; turn++) {
    for (const actor of actors) {
      actor.beginTurn()
      actor.answer(['read_file'])
      const call = { toolCallId: actor.calls[0]!.id }
      const argumentsRef = actor.given(0)
      const what = { toolName: 'read_file', index: 0, argumentsRef, argumentsHash: HASH }
      const start = { ...what, attempt: 1, effect: 'pure', intent: true }
      actor.write('tool_call_start', start, call)
      const result = 'x'.repeat(300 + ((turn * 97) % 2700))
      const end = { step: ++actor.step, toolName: 'read_file', success: true, attempt: 1, durationMs: 3, result }
      actor.write('tool_call_end', end, call)
      actor.endTurn()
    }
  }
  return log
}

async function timed<T>(label: string, work: () => Promise<T>, per = 1): Promise<T> {
  const from = process.hrtime.bigint()
  const value = await work()
  console.log(`${label}: ${(Number(process.hrtime.bigint() - from) / 1e6 / per).toFixed(2)} ms`)
  return value
}

interface Database {
  readonly name: string
  open(): Promise<Store>
  bytes(): Promise<number>
  readonly db: () => Kysely<Tables>
  end(): Promise<void>
}

function sqlite(): Database {
  const folder = mkdtempSync(join(tmpdir(), 'projections-bench-'))
  const file = join(folder, 't.db')
  return {
    name: 'SQLite',
    open: () => openSqliteStore(file),
    bytes: async () => statSync(file).size,
    db: () => connectSqlite(file, 'read').db,
    end: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function postgres(): Promise<Database> {
  const server = new PostgresServer()
  const pool = openPool({ url: server.url })
  const home = new PostgresHome({ pool })
  const live = await home.live()
  const readers = openPool({ url: `${server.url}&options=${encodeURIComponent(`-c search_path=keepup_${live}`)}` })
  return {
    name: 'PostgreSQL (bodies too)',
    open: () => home.open(live),
    bytes: async () =>
      (
        await pool.query(
          'select sum(pg_total_relation_size(oid)) as n from pg_class where relnamespace = $1::regnamespace',
          [`keepup_${live}`],
        )
      ).rows[0].n,
    db: () => new Kysely<Tables>({ dialect: new PostgresDialect({ pool: readers }) }),
    async end() {
      await Promise.all([pool.end(), readers.end()])
      server.remove()
    },
  }
}

async function measured(database: Database, log: MemoryLog): Promise<void> {
  console.log(`-- ${database.name}`)
  const store = await database.open()
  const cpu = process.cpuUsage()
  const from = process.hrtime.bigint()
  await new Projector({ log, blobs: log.blobs, store }).catchUp()
  const seconds = Number(process.hrtime.bigint() - from) / 1e9
  const used = process.cpuUsage(cpu)
  await store.close()
  const count = log.events.length
  const bodies = log.events.reduce((sum, event) => sum + event.header.body.size, 0)
  const each = ((used.user + used.system) / count).toFixed(1)
  console.log(
    `catch-up: ${count} events, ${Math.round(count / seconds)} events/s, ${each} µs CPU of this process an event`,
  )
  const bytes = await database.bytes()
  console.log(
    `tables: ${(bytes / bodies).toFixed(2)} of the bodies' bytes (${Math.round(bytes / count)} bytes an event)`,
  )
  const db = database.db()
  await selectRuns(db)
  await timed('runs list, 50', () => selectRuns(db))
  await timed('run', () => showRun(db, 'r0'))
  await timed('due', () => dueBefore(db, null))
  await timed('checkpoints, page of 100', () => selectCheckpoints(db, 'r0'))
  await timed(
    'one checkpoint, row and use',
    async () => {
      for (let i = 1; i <= 20; i++) await usageAt(db, (await findCheckpoint(db, 'r0', i))!)
    },
    20,
  )
  await database.end()
}

const log = steady()
log.pages = () => 1000
await measured(sqlite(), log)
await measured(sqlite(), log)
if (found === undefined) console.log('-- PostgreSQL: not measured; apt-get install postgresql')
else await measured(await postgres(), log)
