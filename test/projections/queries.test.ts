import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { billOf } from '../../projections/queries/bill.ts'
import { argumentsOf, assembleCheckpoint } from '../../projections/queries/checkpoint.ts'
import { checkpointFacts, findCheckpoint, listCheckpoints } from '../../projections/queries/checkpoints.ts'
import { eventStarts, eventsAfter } from '../../projections/queries/events.ts'
import { listApprovals, listArtifacts } from '../../projections/queries/lists.ts'
import { showRun } from '../../projections/queries/run.ts'
import { listRuns } from '../../projections/queries/runs.ts'
import { MemoryLog } from '../support/projections/memory-log.ts'
import { Actor } from '../support/projections/story.ts'
import { folder, projected } from '../support/projections/tables.ts'
import { tell } from '../support/projections/tell.ts'

const T0 = Date.UTC(2026, 0, 1)

function world() {
  const log = new MemoryLog()
  let at = T0
  const now = () => ++at
  return { log, actor: (id: string, run = id) => new Actor(log, now, id, run) }
}

async function open(log: MemoryLog) {
  const { store } = await projected(log, join(folder(), 't.db'))
  onTestFinished(() => store.close())
  return store.db
}

/** A root that reads a file, asks to run a command and delegates; its child fails. */
function family() {
  const { log, actor } = world()
  const [root, child] = [actor('r1'), actor('r1x', 'r1')]
  root.start()
  root.user('user_input', { text: 'build it' })
  root.beginTurn()
  root.answer(['read_file', 'run_command'])
  root.write('context_set', { key: 'lang', value: 'rust' }, { toolCallId: 'r1.t1.c0' })
  root.write(
    'artifact_registered',
    { artifact: { id: 'p1', type: 'plan', title: 'Plan', content: '# plan', size: 6 } },
    { toolCallId: 'r1.t1.c0' },
  )
  root.endCall('r1.t1.c0', 'read_file')
  root.calls[0]!.status = 'ended'
  child.start({ agentId: 'r1', toolCallId: 'r1.t1.c0' })
  child.beginTurn()
  child.write('model_attempt_lost', {
    attempt: 1,
    usage: { input: 9, output: 1, cacheRead: 0, cacheWrite: 0 },
    nanoDollars: 50,
  })
  child.finish('error')
  const body = {
    toolName: 'run_command',
    argumentsHash: 'h1',
    expiresAt: new Date(T0 + 9e5).toISOString(),
    reason: 'sensitive',
  }
  root.write('approval_requested', body, { toolCallId: 'r1.t1.c1' })
  return { log, root, child, actor }
}

describe('lists of runs', () => {
  it('page, newest first, by status, without gaps or repeats', async () => {
    const { log, actor } = world()
    for (let i = 0; i < 9; i++) {
      const a = actor(`r${i}`)
      a.start()
      a.user('user_input', { text: `task ${i}` })
      if (i % 3 === 0) a.finish('completion')
    }
    const db = await open(log)
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await listRuns(db, { limit: 2, status: 'active', ...(after === undefined ? {} : { after }) })
      seen.push(...page.runs.map((run) => `${run.id} ${run.task}`))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(seen).toEqual(['r8 task 8', 'r7 task 7', 'r5 task 5', 'r4 task 4', 'r2 task 2', 'r1 task 1'])
    expect((await listRuns(db, { status: 'completed' })).runs.map((run) => run.id)).toEqual(['r6', 'r3', 'r0'])
  })

  it('say what a run waits for, and forks show their source’s task', async () => {
    const { log, root, actor } = family()
    const fork = actor('r2')
    fork.forkFrom(root, 3, 'h')
    const idle = actor('r3')
    idle.start()
    const { runs } = await listRuns(await open(log))
    expect(
      runs.map(({ id, task, waiting, agents, role, forked_from }) => ({
        id,
        task,
        waiting,
        agents,
        role,
        forked_from,
      })),
    ).toEqual([
      {
        id: 'r3',
        task: null,
        agents: 1,
        role: 'Coder',
        forked_from: null,
        waiting: [{ agentId: 'r3', for: 'input', toolCallId: null }],
      },
      { id: 'r2', task: 'build it', agents: 1, role: null, forked_from: 'r1', waiting: [] },
      {
        id: 'r1',
        task: 'build it',
        agents: 2,
        role: 'Coder',
        forked_from: null,
        waiting: [{ agentId: 'r1', for: 'approval', toolCallId: 'r1.t1.c1' }],
      },
    ])
  })
})

describe('a run', () => {
  it('shows the tree of its agents with own usage and totals', async () => {
    const { log } = family()
    const db = await open(log)
    const run = (await showRun(db, 'r1'))!
    const [root] = run.tree
    expect(run.tree).toHaveLength(1)
    expect(root!.agent).toMatchObject({
      id: 'r1',
      depth: 0,
      role: 'Coder',
      status: 'active',
      usage_input_tokens: 111,
      usage_output_tokens: 20,
      usage_cost: 1001 / 1e9,
    })
    expect(root!.children[0]!.agent).toMatchObject({
      id: 'r1x',
      parent_agent_id: 'r1',
      status: 'failed',
      code: 'RECOVERY_FAILED',
      in_doubt_nano_dollars: 50,
    })
    expect(root!.own).toMatchObject({ input: 101, cacheRead: 7, cacheWrite: 3, output: 20, nanoDollars: 1001 })
    expect(root!.total).toMatchObject({
      input: 110,
      output: 21,
      nanoDollars: 1051,
      inDoubt: { calls: 1, tokens: 10, nanoDollars: 50 },
    })
    expect(root!.phase).toBe('plan')
    const totals = await db.selectFrom('agent_lineage_totals').selectAll().orderBy('id').execute()
    expect(totals).toMatchObject([
      { id: 'r1', agents: 2, total_input_tokens: 120, total_output_tokens: 21, total_nano_dollars: 1051 },
      { id: 'r1x', agents: 1, total_input_tokens: 9, total_output_tokens: 1, total_nano_dollars: 50 },
    ])
    expect(await showRun(db, 'nobody')).toBeNull()
  })

  it('has a bill per model, unpriced and doubtful parts told', async () => {
    const { log, actor } = world()
    const a = actor('r')
    a.start()
    for (let i = 0; i < 4; i++) {
      a.beginTurn()
      a.answer([])
      a.endTurn('text')
    }
    const bill = await billOf(await open(log), 'r')
    expect(bill.models.map(({ model, calls, nanoDollars, unpriced }) => [model, calls, nanoDollars, unpriced])).toEqual(
      [
        ['model-a', 3, 1001 + 1002, 1],
        ['model-b', 1, 1003, 0],
      ],
    )
    expect(bill.total).toMatchObject({ calls: 4, input: 101 + 102 + 103 + 104, output: 80, nanoDollars: 3006 })
  })

  it('gives its events in log order, page by page, as the log has them', async () => {
    const numbers = Array.from({ length: 900 }, (_, i) => (i * 7919) % 1000)
    const { log } = tell(numbers)
    log.pages = () => 4
    const db = await open(log)
    for (const { id } of (await listRuns(db)).runs) {
      const wanted = log.events.filter((event) => event.header.runId === id).map((event) => event.position)
      const got: number[] = []
      for (;;) {
        const after = got.at(-1) ?? -1
        const page = await eventsAfter(log, await eventStarts(db, id, after), after, 7)
        if (page.length === 0) break
        got.push(...page.map((event) => event.position))
      }
      expect(got).toEqual(wanted)
    }
  })
})

describe('approvals and artifacts', () => {
  it('are found with the call that they belong to', async () => {
    const { log } = family()
    const db = await open(log)
    const [approval, ...rest] = await listApprovals(db, { pending: true })
    expect(rest).toEqual([])
    expect(approval).toMatchObject({
      run_id: 'r1',
      tool_call_id: 'r1.t1.c1',
      reason: 'sensitive',
      status: 'pending',
      arguments_hash: 'h1',
    })
    const sources = { log, blobs: log.blobs }
    const { agent_id, call_requested_revision, block } = approval!
    expect(await argumentsOf(sources, agent_id, call_requested_revision, block)).toEqual({ path: 'f1' })
    expect(await listArtifacts(db, { runId: 'r1' })).toMatchObject([
      {
        id: 'r1/p1',
        artifact_type: 'plan',
        content: '# plan',
        checkpoint_id: 'r1.s1',
        metadata: '{"size":6,"hash":null,"mimeType":null}',
      },
    ])
  })

  it('a decided approval, and one whose call was cancelled, wait no more', async () => {
    const { log, root } = family()
    root.user(
      'approval_decided',
      { decision: 'rejected', argumentsHash: 'h1', reason: 'no' },
      { toolCallId: 'r1.t1.c1' },
    )
    const db = await open(log)
    expect(await listApprovals(db, { pending: true })).toEqual([])
    expect(await listApprovals(db, { runId: 'r1' })).toMatchObject([
      { status: 'rejected', decided_by: 'user:ann', decided_claimed: 1, decision_reason: 'no' },
    ])
    const other = family()
    other.root.endCall('r1.t1.c1', 'run_command', { code: 'CANCELLED', message: 'x' })
    expect(await listApprovals(await open(other.log), { pending: true })).toEqual([])
  })
})

describe('checkpoints (seed 000, 5.5)', () => {
  const messagesAt = async () => [{ role: 'user', content: 'build it' }] as const

  it('hold state, pending and completed calls, and usage so far', async () => {
    const { log } = family()
    const db = await open(log)
    const row = (await findCheckpoint(db, 'r1', 1))!
    const checkpoint = await assembleCheckpoint(
      { log, blobs: log.blobs, messagesAt },
      row,
      await checkpointFacts(db, row),
    )
    expect(checkpoint).toEqual({
      id: 'r1.s1',
      threadId: 'r1',
      step: 1,
      timestamp: row.timestamp,
      state: {
        messages: [{ role: 'user', content: 'build it' }],
        sopPhase: 'plan',
        contextVariables: { depth: { a: 1 }, lang: 'rust' },
      },
      pendingToolCalls: [{ id: 'r1.t1.c1', name: 'run_command', arguments: { path: 'f1' } }],
      completedToolResults: [
        { toolCallId: 'r1.t1.c0', name: 'read_file', success: true, result: { text: 'of r1.t1.c0' } },
      ],
      usage: { inputTokens: 111, outputTokens: 20, cost: 1001 / 1e9 },
    })
  })

  it('of a fork inherit phase, variables, calls and usage from the source', async () => {
    const { log, root, actor } = family()
    const fork = actor('r2')
    fork.forkFrom(root, log.events.findLast((e) => e.header.agentId === 'r1')!.header.revision, 'h')
    root.write('context_set', { key: 'lang', value: 'too late' })
    const db = await open(log)
    expect((await listCheckpoints(db, 'r2')).map((c) => c.step)).toEqual([2, 3])
    const inherited = (await findCheckpoint(db, 'r2', 1))!
    expect(inherited.agent_id).toBe('r1')
    const row = (await findCheckpoint(db, 'r2', 2))!
    const made = await assembleCheckpoint({ log, blobs: log.blobs, messagesAt }, row, await checkpointFacts(db, row))
    expect(made.state).toMatchObject({ sopPhase: 'plan', contextVariables: { lang: 'rust' } })
    expect(made.usage.inputTokens).toBe(111)
    expect(made.pendingToolCalls).toEqual([])
    expect(made.completedToolResults.map((r) => [r.toolCallId, r.success])).toEqual([
      ['r1.t1.c0', true],
      ['r1.t1.c1', false],
    ])
    expect(await findCheckpoint(db, 'r2', 4)).toBeNull()
  })

  it('keep their step where their body was erased', async () => {
    const { log, root } = family()
    const target = log.events.find((e) => e.header.type === 'tool_call_end')!.header.revision
    root.endTurn()
    root.finish('completion')
    root.erase(target)
    const db = await open(log)
    expect((await listCheckpoints(db, 'r1')).map((c) => c.step)).toEqual([1, 2])
    const row = (await findCheckpoint(db, 'r1', 1))!
    const made = await assembleCheckpoint({ log, blobs: log.blobs, messagesAt }, row, await checkpointFacts(db, row))
    expect(made.completedToolResults).toEqual([
      { toolCallId: 'r1.t1.c0', name: 'read_file', success: null, erased: true },
    ])
  })
})
