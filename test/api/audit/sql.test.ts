// @module-tag git
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSql } from '../../../api/process/embedded/open-sql.ts'
import { agentOf } from '../../../domain/log/owner.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { inProcess } from '../support/cli.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

// The owner stays open all the while: auditors work beside it.
const world = await openWorld()
const { ask, driven, services } = world
afterAll(() => world.close())

/** The columns of the tables in seed 000, section 8. */
const SEED = {
  checkpoints: 'id thread_id step timestamp state_blob pending_tools completed_tools usage_tokens usage_cost',
  events: 'id thread_id event_type timestamp payload',
  artifacts: 'id run_id agent_id checkpoint_id artifact_type path content metadata created_at',
  agent_lineage:
    'id run_id parent_agent_id role status depth created_at completed_at usage_input_tokens usage_output_tokens usage_cost',
}

const sql = async <T>(text: string): Promise<T[]> => {
  const { code, out, err } = await inProcess(['--data', world.data, '-o', 'json', 'sql', text])
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out) as T[]
}

let source: string
let fork: string

beforeAll(async () => {
  const workspace = world.workspace()
  source = await driven('write it', { workspace, approve: ['write_file'] })
  const forked = await ask('POST', `/v1/runs/${source}/fork`, { body: { step: 2, drive: true } })
  fork = (await bodyOf<{ runId: string }>(forked)).runId
  await services.drivers.ended(fork)
  await services.read.caughtUp()
})

describe('the seed’s tables', () => {
  it('events: a payload says what readers of events see, the arguments of calls too', async () => {
    const rows = await sql<{ event_id: string; payload: string }>('select event_id, payload from events order by id')
    const { out } = await inProcess(['--data', world.data, '-o', 'jsonl', 'tail', '--all', '--no-follow'])
    const seen = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; payload: object })
    expect(rows.map(({ event_id: id, payload }) => ({ id, payload: JSON.parse(payload) }))).toEqual(
      seen.map(({ id, payload }) => ({ id, payload })),
    )
    const [call] = await sql<{ path: string }>(
      "select payload ->> '$.arguments.path' as path from events where event_type = 'tool_call_start' limit 1",
    )
    expect(call).toEqual({ path: 'hello.txt' })
  })

  it('have the seed’s columns, and rows of source and fork', async () => {
    const { db, close } = openSql(world.data)
    for (const [table, columns] of Object.entries(SEED)) {
      const there = db
        .prepare(`select * from ${table} limit 0`)
        .columns()
        .map(({ name }) => name)
      expect([table, there.slice(0, columns.split(' ').length).join(' ')]).toEqual([table, columns])
    }
    close()
    const { out } = await inProcess(['sql', '--help'])
    for (const [table, columns] of Object.entries(SEED)) {
      const flat = out.replace(/\s+/g, ' ')
      for (const column of columns.split(' ')) expect([table, flat.includes(column)]).toEqual([table, true])
    }
  })

  it('events: every event of the log, as the API tells it', async () => {
    type Row = { id: number; event_id: string; timestamp: string; payload: string; tool_call_id: string | null }
    const rows = await sql<Row & { event_type: string; thread_id: string }>('select * from events order by id')
    const all = await eventsIn(services)
    expect(rows.map((r) => [r.id, r.event_id, r.thread_id, r.event_type, r.timestamp, r.tool_call_id])).toEqual(
      all.map(({ position, id, header: h }) => [
        ...[position, id, agentOf(h), h.type, h.timestamp],
        h.toolCallId ?? null,
      ]),
    )
    const pointing = new Set(['tool_call_start', 'context_set'])
    const sealed = rows.flatMap(({ event_type: type, payload }, i) => (pointing.has(type) ? [] : [[payload, all[i]!]]))
    for (const [payload, event] of sealed as [string, (typeof all)[number]][])
      expect(payload).toBe(Buffer.from(unsalted(event.body!)).toString('utf8'))
  })

  it('checkpoints: what the API gives for each step, also of a fork', async () => {
    type Row = { thread_id: string; step: number; state_blob: string; pending_tools: string; usage_tokens: number }
    const rows = await sql<Row>('select * from checkpoints order by thread_id, step')
    expect(new Set(rows.map((r) => r.thread_id))).toEqual(new Set([source, fork]))
    expect(rows.length).toBeGreaterThan(5)
    for (const row of rows) {
      const answer = await ask('GET', `/v1/agents/${row.thread_id}/checkpoints/${row.step}`)
      const { checkpoint } = await bodyOf<{ checkpoint: Record<string, never> }>(answer)
      const { inputTokens, outputTokens } = checkpoint.usage as unknown as Record<string, number>
      expect([row.thread_id, row.step, JSON.parse(row.state_blob)]).toEqual([row.thread_id, row.step, checkpoint.state])
      expect(JSON.parse(row.pending_tools)).toEqual(checkpoint.pendingToolCalls)
      expect(row.usage_tokens).toBe(inputTokens! + outputTokens!)
    }
    // A fork begins with what its source had said.
    const first = rows.find((r) => r.thread_id === fork)!
    expect(JSON.parse(first.state_blob).messages[0]).toMatchObject({ role: 'user', content: 'write it' })
  })

  it('agent_lineage and artifacts', async () => {
    const lineage = await sql<Record<string, unknown>>('select * from agent_lineage order by created_at')
    expect(lineage).toMatchObject([
      { id: source, run_id: source, parent_agent_id: null, status: 'completed', depth: 0 },
      { id: fork, run_id: fork, status: 'completed' },
    ])
    type Artifact = { id: string; metadata: string }
    const artifacts = await sql<Artifact>(`select * from artifacts where agent_id = '${source}'`)
    expect(artifacts).toMatchObject([
      { run_id: source, checkpoint_id: `${source}.s3`, artifact_type: 'file', path: 'hello.txt', content: null },
    ])
    expect(JSON.parse(artifacts[0]!.metadata)).toMatchObject({ size: 6, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  it('what was erased is null, or says so, and breaks no query', async () => {
    const id = await driven('finish a private matter')
    const before = await sql<{ n: number }>('select count(*) as n from checkpoints')
    await ask('POST', `/v1/runs/${id}/erase`, { body: { revision: 1, reason: 'private' } })
    const [event] = await sql(`select payload from events where thread_id = '${id}' and revision = 1`)
    expect(event).toEqual({ payload: null })
    const told = async () => {
      const rows = await sql<{ messages: string }>(
        `select state_blob -> '$.messages' as messages from checkpoints where thread_id = '${id}'`,
      )
      return rows.map(({ messages }) => JSON.parse(messages) as unknown)
    }
    // As the runtime tells them: everything that was not erased is there.
    const wanted = async () => {
      const all = await Promise.all([1, 2].map((step) => services.runtime.at(id, { step })))
      return all.map(({ messages }) => messages)
    }
    expect(await told()).toEqual(await wanted())
    expect((await told())[1]).toMatchObject([{ role: 'user', content: '[erased]' }, { role: 'assistant' }, {}])
    await ask('POST', `/v1/runs/${id}/erase`, { body: { all: true, reason: 'private' } })
    expect(await told()).toEqual(await wanted())
    const results = await sql<{ results: string }>(
      `select completed_tools as results from checkpoints where thread_id = '${id}' and completed_tools like '%[erased]%'`,
    )
    expect(results.length).toBeGreaterThan(0)
    expect(await sql('select count(*) as n from checkpoints')).toEqual(before)
  })
})

describe('keepup sql', () => {
  const run = (...args: string[]) => inProcess(['--data', world.data, 'sql', ...args])

  it('shows tables, and one JSON value a line', async () => {
    expect((await run("select 1 as one, null as none, x'00ff' as bytes -- so")).out).toBe(
      'one  none  bytes\n1    -     00ff\n',
    )
    const lines = (await run('-o', 'jsonl', 'with n(i) as (values (1), (2)) select i from n;')).out
    expect(lines).toBe('{"i":1}\n{"i":2}\n')
  })

  it('gives what does not fit into memory as fast as it is taken', async () => {
    let [written, drained] = [0, () => {}]
    const stdout = {
      write: () => ++written % 10 > 0,
      once: (_: 'drain', then: () => void) => {
        drained = then
      },
    }
    const endless = 'with n(i) as (values (1) union all select i + 1 from n limit 35) select i from n'
    const ended = inProcess(['--data', world.data, '-o', 'jsonl', 'sql', endless], {}, { stdout })
    for (const most of [10, 20, 30]) {
      await expect.poll(() => written).toBe(most)
      drained()
    }
    expect([(await ended).code, written]).toEqual([0, 35])
  })

  it('gives whole numbers as they are, however large', async () => {
    const { out } = await run(
      '-o',
      'jsonl',
      'select 9223372036854775807 as large, 9007199254740991 as safe, 1.5 as half',
    )
    expect(out).toBe('{"large":"9223372036854775807","safe":9007199254740991,"half":1.5}\n')
  })

  it.each([
    ['select zeroblob(400000000)', 'Cannot create a string'],
    ['select zeroblob(2000000000)', 'string or blob too big'],
    ["select load_extension('x')", 'not authorized'],
    ['select abs(-9223372036854775808)', 'integer overflow'],
  ])('says why %s fails on its way', async (text, says) => {
    const { code, err } = await run(text)
    expect([code, err]).toEqual([1, expect.stringMatching(`^keepup: the query failed: ${says}`)])
  })

  it.each([
    ['delete from events', 'this is no SELECT'],
    ["insert into runs(id) values ('x') returning id", 'this is no SELECT'],
    ['with x as (select 1) delete from runs', 'syntax error'],
    ['select 1; delete from runs', 'syntax error'],
    ["attach database 'other.db' as other", 'this is no SELECT'],
    ['select nonesuch from events', 'no such column: nonesuch'],
    ['', 'this is no SELECT'],
  ])('refuses %j with 2', async (text, says) => {
    const { code, out, err } = await run(text)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(says)
  })

  it('cannot write, whatever is asked', async () => {
    const { db, close } = openSql(world.data)
    for (const text of ["update runs set status = 'x'", 'delete from log.events', 'create table t(a)']) {
      expect(() => db.exec(text)).toThrow(/readonly|read-only/)
    }
    close()
  })
})
