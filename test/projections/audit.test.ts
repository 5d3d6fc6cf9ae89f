import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { agentOf, ownerOf, runOf } from '../../domain/log/owner.ts'
import { unsalted } from '../../domain/log/seal.ts'
import { Projector } from '../../projections/engine/projector/projector.ts'
import { openAudit } from '../../projections/engine/store/audit.ts'
import { openSqliteStore } from '../../projections/engine/store/sqlite.ts'
import { tempFolder } from '../support/folders.ts'
import { checkpointAt } from '../support/projections/checkpoint.ts'
import { tape } from '../support/projections/fc.ts'
import type { MemoryLog } from '../support/projections/memory-log.ts'
import { tell } from '../support/projections/tell.ts'

const COLUMNS =
  'position, event_id, stream, run_id, agent_id, turn, revision, type, timestamp, tool_call_id, actor_kind, actor_id'

/** A log file with headers only, as an embedded log shows them. */
function logFile(log: MemoryLog, path: string): void {
  const db = new DatabaseSync(path)
  db.exec(`create table headers (${COLUMNS})`)
  const insert = db.prepare(`insert into headers values (${COLUMNS.replaceAll(/[a-z_]+/g, '?')})`)
  for (const { header: h, position, id } of log.events) {
    const row = [
      position,
      id,
      h.stream,
      runOf(h),
      agentOf(h),
      h.turn,
      h.revision,
      h.type,
      h.timestamp,
      h.toolCallId ?? null,
    ]
    insert.run(...row, h.actor.kind, h.actor.id)
  }
  db.close()
}

const bytesOf = (log: MemoryLog, place: number) => {
  const event = log.events[place]!
  return unsalted(event.body ?? log.blobs.held.get(`${ownerOf(event.header)}/${event.header.body.hash}`)!)
}

const SEEDS = [1, 5]

it.each(SEEDS)('the seed’s events and checkpoints say as views what the log and the queries say (%i)', async (seed) => {
  const { log } = tell(fc.sample(tape, { numRuns: 12, seed }).flat(), false)
  const path = tempFolder()
  const store = await openSqliteStore(join(path, 't.db'))
  onTestFinished(() => store.close())
  await new Projector({ log, blobs: log.blobs, store }).catchUp()
  logFile(log, join(path, 'log.db'))
  const messages = (agentId: string, revision: number) =>
    JSON.stringify([{ role: 'user', content: `${agentId}@${revision}` }])
  const audit = openAudit(join(path, 't.db'), {
    path: join(path, 'log.db'),
    eventsSql: (schema) => `select * from ${schema}.headers`,
    payload: (position) => new TextDecoder().decode(bytesOf(log, (position - 1) / 3)),
    shown: (position) => new TextDecoder().decode(bytesOf(log, (position - 1) / 3)),
    messages,
  })
  onTestFinished(() => audit.close())

  const events = audit.raw.prepare('select * from events order by id').all()
  expect(events.length).toBe(log.events.length)
  const said = events.findIndex((row) => row.event_type === 'user_input')
  const { header } = log.events[said]!
  expect(events[said]).toMatchObject({
    id: log.events[said]!.position,
    thread_id: header.agentId,
    agent_id: 'user:ann',
    turn: 0,
    timestamp: header.timestamp,
    payload: new TextDecoder().decode(bytesOf(log, said)),
  })

  const rows = audit.raw.prepare('select * from checkpoints').all()
  const columns = 'id thread_id step timestamp state_blob pending_tools completed_tools usage_tokens usage_cost'
  expect(Object.keys(rows[0]!).join(' ')).toBe(columns)
  const ends = log.events.filter(({ header: { type } }) => type === 'tool_call_end' || type === 'turn_end')
  expect(rows.length).toBe(ends.length)
  expect(rows.length).toBeGreaterThan(20)
  expect(rows.some((row) => row.pending_tools !== '[]')).toBe(true)
  for (const row of rows) {
    const at = await checkpointAt({ log, blobs: log.blobs }, store.db, String(row.thread_id), Number(row.step))
    const { row: found, ...made } = at
    expect(row).toMatchObject({ id: found.id, timestamp: found.timestamp, usage_cost: made.usage.cost })
    expect(row.usage_tokens).toBe(made.usage.inputTokens + made.usage.outputTokens)
    const told = JSON.parse(messages(found.agent_id, found.revision))
    expect(JSON.parse(String(row.state_blob))).toEqual({ ...made.state, messages: told })
    expect(JSON.parse(String(row.pending_tools))).toEqual(made.pendingToolCalls)
    const results = JSON.parse(String(row.completed_tools)) as Record<string, unknown>[]
    expect(results.map((r) => [r.toolCallId, Boolean(r.success), r.result ?? undefined])).toEqual(
      made.completedToolResults.map((r) => [r.toolCallId, r.success, r.result]),
    )
  }
})
