import { expect, it } from 'vitest'
import { projectedInto } from '../support/golden/rows.ts'
import { call, calls, completes } from '../support/harness.ts'
import { sqliteKit } from '../support/projections/kit.ts'
import { given, tool } from '../support/story.ts'

interface CallRow {
  readonly agent?: string
  readonly turn: number
  readonly attempt?: number
  readonly status?: string
  /** Tokens sent and received, and nano-dollars. */
  readonly use: readonly [sent: number | 'null', received: number | 'null', nanoDollars: number | 'null']
}

interface AgentRow {
  readonly id: string
  readonly status?: string
  readonly forkedFrom?: string
  readonly forkedRevision?: number
}

const text = (value: string | undefined) => (value === undefined ? 'null' : `'${value}'`)

/** The causes of these calls: `[cause, tool, calls, tokens, nano-dollars, unpriced calls]`. A call's revision is ten times its turn. */
async function causesOf(
  calls: readonly CallRow[],
  tools: readonly (readonly [turn: number, name: string])[],
  agents: readonly AgentRow[] = [{ id: 'a' }],
) {
  const { alter, db } = await sqliteKit.fresh()
  for (const { id, status = 'active', forkedFrom, forkedRevision = 'null' } of agents) {
    const ended = status === 'active' ? 'null' : "'2026-01-01T00:00:00.000Z'"
    await alter(
      `insert into agents (id, run_id, status, depth, created_at, updated_at, completed_at, forked_from, forked_revision)
        values ('${id}', '${id}', '${status}', 0, '', '', ${ended}, ${text(forkedFrom)}, ${forkedRevision})`,
    )
  }
  for (const { agent = 'a', turn, attempt = 1, status = 'answered', use } of calls)
    await alter(
      `insert into model_calls (agent_id, run_id, turn, attempt, status, started_revision, input, output, nano_dollars)
        values ('${agent}', '${agent}', ${turn}, ${attempt}, '${status}', ${turn * 10}, ${use.join(', ')})`,
    )
  for (const [place, [turn, name]] of tools.entries())
    await alter(
      `insert into tool_calls (agent_id, id, run_id, turn, tool_name, status)
        values ('a', 'a.t${turn}.c${place}', 'a', ${turn}, '${name}', 'succeeded')`,
    )
  return causesIn(db)
}

async function causesIn(db: Awaited<ReturnType<typeof sqliteKit.fresh>>['db']) {
  const rows = await db
    .selectFrom('cost_by_cause')
    .selectAll()
    .orderBy('agent_id')
    .orderBy('cause')
    .orderBy('tool_name')
    .execute()
  return rows.map((row) => [row.cause, row.tool_name, row.calls, row.tokens, row.nano_dollars, row.unpriced_calls])
}

const STEADY: readonly CallRow[] = [
  { turn: 1, use: [100, 10, 110] },
  // 90 more: the results of turn 1, sent for the first time.
  { turn: 2, use: [200, 10, 210] },
  { turn: 3, use: [210, 10, 220] },
  { turn: 4, use: [220, 10, 230] },
]

it('a result costs its share of every request after the first one that had it', async () => {
  expect(
    await causesOf(STEADY, [
      [1, 'read_file'],
      [1, 'run_command'],
    ]),
  ).toEqual([
    ['answer', null, 4, 770 - 180, 770 - 180, 0],
    ['resent', 'read_file', 1, 90, 90, null],
    ['resent', 'run_command', 1, 90, 90, null],
  ])
})

it('a result costs nothing after the context shrank', async () => {
  const shrunk = [
    ...STEADY.slice(0, 3),
    { turn: 4, use: [50, 10, 60] as const },
    { turn: 5, use: [60, 10, 70] as const },
  ]
  expect(await causesOf(shrunk, [[1, 'read_file']])).toEqual([
    ['answer', null, 5, 670 - 90, 670 - 90, 0],
    ['resent', 'read_file', 1, 90, 90, null],
  ])
})

it('lost attempts, retries and summaries have causes of their own', async () => {
  const calls: readonly CallRow[] = [
    { turn: 0, use: [5, 5, 1] },
    { turn: 1, attempt: 1, status: 'failed', use: [10, 0, 2] },
    { turn: 1, attempt: 2, status: 'lost', use: [20, 0, 4] },
    { turn: 1, attempt: 3, use: [10, 10, 8] },
  ]
  expect(await causesOf(calls, [])).toEqual([
    ['answer', null, 1, 20, 8, 0],
    ['compression', null, 1, 10, 1, 0],
    ['lost', null, 1, 20, 4, 0],
    ['retry', null, 1, 10, 2, 0],
  ])
})

it('a recorded attempt that failed and was repeated is a retry without tokens', async () => {
  const busy = Object.assign(new Error('busy'), { name: 'ModelError', code: 'OVERLOADED', transient: true })
  const run = await given({ says: [busy, calls(call('look')), completes()], tools: [tool('look')] })
  await run.drive()
  const { open, db } = await sqliteKit.fresh()
  await projectedInto(run.log, run.ports.blobs, await open())
  const causes = await causesIn(db)
  expect(causes).toContainEqual(['retry', null, 1, 0, 0, 0])
  expect(causes.filter(([cause]) => cause !== 'resent').map(([cause, , calls]) => [cause, calls])).toEqual([
    ['answer', 2],
    ['retry', 1],
  ])
})

it('a call that was held is neither a call nor a retry, and calls of unknown cost are counted', async () => {
  const calls: readonly CallRow[] = [
    { turn: 1, attempt: 1, use: [10, 5, 2] },
    { turn: 1, attempt: 2, status: 'held', use: ['null', 'null', 'null'] },
    { turn: 2, attempt: 1, status: 'held', use: ['null', 'null', 'null'] },
    { turn: 2, attempt: 2, use: [20, 5, 'null'] },
  ]
  expect(await causesOf(calls, [])).toEqual([['answer', null, 2, 40, 2, 1]])
})

it('a branch that ended without completing is abandoned, in the source from the fork on', async () => {
  const calls: readonly CallRow[] = [
    { turn: 1, use: [1, 0, 1] },
    { turn: 2, use: [1, 0, 2] },
    { agent: 'b', turn: 2, use: [1, 0, 4] },
    { agent: 'c', turn: 2, use: [1, 0, 8] },
  ]
  const agents: readonly AgentRow[] = [
    { id: 'a', status: 'cancelled' },
    { id: 'b', status: 'failed', forkedFrom: 'a', forkedRevision: 15 },
    { id: 'c', status: 'completed', forkedFrom: 'a', forkedRevision: 15 },
  ]
  expect((await causesOf(calls, [], agents)).map(([cause, , , , money]) => [cause, money])).toEqual([
    ['abandoned', 2],
    ['answer', 1],
    ['abandoned', 4],
    ['answer', 8],
  ])
})
