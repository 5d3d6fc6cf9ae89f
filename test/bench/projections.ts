// Catch-up of the projections into SQLite, and what the queries cost behind it.
// `node test/bench/projections.ts [turns] [agents]` prints a line per figure.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Projector } from '../../projections/projector/projector.ts'
import { checkpointFacts, findCheckpoint, listCheckpoints } from '../../projections/queries/checkpoints.ts'
import { dueBefore } from '../../projections/queries/due.ts'
import { showRun } from '../../projections/queries/run.ts'
import { listRuns } from '../../projections/queries/runs.ts'
import { openSqliteStore } from '../../projections/store/sqlite.ts'
import { MemoryLog } from '../support/projections/memory-log.ts'
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
      const start = { toolName: 'read_file', index: 0, argumentsHash: 'h', attempt: 1, effect: 'pure', intent: true }
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

const log = steady()
log.pages = () => 1000
const folder = mkdtempSync(join(tmpdir(), 'projections-bench-'))
const file = join(folder, 't.db')
const cpu = process.cpuUsage()
const from = process.hrtime.bigint()
const store = await openSqliteStore(file)
await new Projector({ log, blobs: log.blobs, store }).catchUp()
const seconds = Number(process.hrtime.bigint() - from) / 1e9
const used = process.cpuUsage(cpu)
const count = log.events.length
const bodies = log.events.reduce((sum, event) => sum + event.header.body.size, 0)
console.log(
  `catch-up: ${count} events, ${Math.round(count / seconds)} events/s, ${((used.user + used.system) / count).toFixed(1)} µs CPU an event`,
)
console.log(
  `tables: ${(statSync(file).size / bodies).toFixed(2)} of the bodies' bytes (${Math.round(statSync(file).size / count)} bytes an event)`,
)
await timed('runs list, 50', () => listRuns(store.db))
await timed('run', () => showRun(store.db, 'r0'))
await timed('due', () => dueBefore(store.db, null))
await timed('checkpoints, page of 100', () => listCheckpoints(store.db, 'r0'))
await timed(
  'one checkpoint, row and facts',
  async () => {
    for (let i = 1; i <= 20; i++) await checkpointFacts(store.db, (await findCheckpoint(store.db, 'r0', i))!)
  },
  20,
)
await store.close()
rmSync(folder, { recursive: true, force: true })
