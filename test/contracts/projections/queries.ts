import { describe, expect, it } from 'vitest'
import { listApprovals } from '../../../projections/agent/queries/approvals.ts'
import { argumentsOf } from '../../../projections/agent/queries/arguments.ts'
import { listArtifacts } from '../../../projections/agent/queries/artifacts.ts'
import { listQuestions } from '../../../projections/agent/queries/asks.ts'
import { costBy } from '../../../projections/agent/queries/cost.ts'
import { showRun } from '../../../projections/agent/queries/run.ts'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import { eventStarts, eventsAfter } from '../../../projections/engine/queries/events.ts'
import { family, openOn, T0, world } from '../../support/projections/family.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import { DECIDED, HASH } from '../../support/projections/spec.ts'
import { tell } from '../../support/projections/tell.ts'

export function queriesContract(kit: TablesKit): void {
  const open = openOn(kit)
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
      let after: number | undefined
      do {
        const page = await selectRuns(db, { limit: 2, status: 'active', ...(after === undefined ? {} : { after }) })
        seen.push(...page.runs.map((run) => `${run.id} ${run.task}`))
        after = page.last?.started
      } while (after !== undefined)
      expect(seen).toEqual(['r8 task 8', 'r7 task 7', 'r5 task 5', 'r4 task 4', 'r2 task 2', 'r1 task 1'])
      expect((await selectRuns(db, { status: 'completed' })).runs.map((run) => run.id)).toEqual(['r6', 'r3', 'r0'])
    })

    it('are in the order in which the runs began, whatever their ids', async () => {
      const { log, actor } = world()
      for (const id of ['m', 'z', 'a', 'k']) actor(id).start()
      const db = await open(log)
      const first = await selectRuns(db, { limit: 3 })
      const rest = await selectRuns(db, { limit: 3, after: first.last!.started })
      expect([...first.runs, ...rest.runs].map((run) => run.id)).toEqual(['k', 'a', 'z', 'm'])
    })

    it('are found by how their ids begin, letter by letter', async () => {
      const { log, actor } = world()
      for (const id of ['ma', 'm', 'mz.z', 'n', 'M', 'lm']) actor(id).start()
      const db = await open(log)
      const found = async (prefix: string) => (await selectRuns(db, { prefix })).runs.map((run) => run.id)
      expect(await found('m')).toEqual(['mz.z', 'm', 'ma'])
      expect(await found('mz')).toEqual(['mz.z'])
      for (const prefix of ['%', 'm_', 'mz.z.']) expect(await found(prefix), prefix).toEqual([])
    })

    it('a question is listed once its turn is over, until it is answered or its run is to end', async () => {
      const { log, actor } = world()
      const asking = (id: string) => {
        const a = actor(id)
        a.start()
        a.beginTurn()
        a.answer(['ask_user'])
        a.endCall(`${id}.t1.c0`, 'ask_user')
        return a
      }
      asking('in turn')
      for (const id of ['asks', 'answered', 'ends']) asking(id).endTurn()
      actor('answered').user('user_input', { text: 'yes' })
      actor('ends').user('cancel_requested', { deadlineMs: 1 })
      expect((await listQuestions(await open(log))).map((one) => one.agent_id)).toEqual(['asks'])
    })

    it('say what a run waits for, and forks show their source’s task', async () => {
      const { log, root, actor } = family()
      const fork = actor('r2')
      fork.forkFrom(root, 3, HASH)
      const idle = actor('r3')
      idle.start()
      const { runs } = await selectRuns(await open(log))
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
        { id: 'r2', task: 'build it', agents: 1, role: 'Coder', forked_from: 'r1', waiting: [] },
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
        in_doubt_tokens: 10,
        in_doubt_nano_dollars: 50,
      })
      expect(root!.own).toMatchObject({ input: 101, cacheRead: 7, cacheWrite: 3, output: 20, nanoDollars: 1001 })
      expect(root!.total).toMatchObject({
        input: 110,
        output: 21,
        nanoDollars: 1051,
        inDoubt: { calls: 1, tokens: 10, nanoDollars: 50 },
      })
      expect([root!.ownCalls, root!.totalCalls, root!.children[0]!.totalCalls]).toEqual([1, 1, 0])
      expect(root!.phase).toBe('plan')
      const lost = { in_doubt_tokens: 10, in_doubt_nano_dollars: 50 }
      const totals = await db.selectFrom('agent_lineage_totals').selectAll().orderBy('id').execute()
      expect(totals).toMatchObject([
        { id: 'r1', agents: 2, total_input_tokens: 120, total_output_tokens: 21, total_nano_dollars: 1051, ...lost },
        { id: 'r1x', agents: 1, total_input_tokens: 9, total_output_tokens: 1, total_nano_dollars: 50, ...lost },
      ])
      expect(await showRun(db, 'unknown')).toBeNull()
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
      const { rows, total } = await costBy(await open(log), 'model', { runId: 'r' })
      expect(rows.map(({ name, sum }) => [name, sum.calls, sum.nanoDollars, sum.unpriced])).toEqual([
        ['model-a', 3, 1001 + 1002, 1],
        ['model-b', 1, 1003, 0],
      ])
      expect(total).toMatchObject({ calls: 4, input: 101 + 102 + 103 + 104, output: 80, nanoDollars: 3006 })
    })

    it('gives its events in log order, page by page, as the log has them', async () => {
      const numbers = Array.from({ length: 900 }, (_, i) => (i * 7919) % 1000)
      const { log } = tell(numbers)
      log.pages = () => 4
      const db = await open(log)
      for (const { id } of (await selectRuns(db)).runs) {
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
      const [approval, ...rest] = await listApprovals(db, { state: 'pending' })
      expect(rest).toEqual([])
      expect(approval).toMatchObject({
        run_id: 'r1',
        tool_call_id: 'r1.t1.c1',
        reason: 'sensitive',
        status: 'pending',
        arguments_hash: HASH,
      })
      const sources = { log, blobs: log.blobs }
      const { agent_id, call_requested_revision, block } = approval!
      expect(await argumentsOf(sources, agent_id, call_requested_revision, block)).toMatchObject({ path: 'f1' })
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

    it('artifacts are told in the order in which they were registered, page by page', async () => {
      const { log, actor } = world()
      const a = actor('r')
      a.start()
      a.beginTurn()
      a.answer(['advance_phase'])
      const ids = ['t1', 't2', 't10', 'a']
      for (const id of ids) a.write('artifact_registered', { artifact: { id, type: 'plan', title: id, claimed: true } })
      const db = await open(log)
      const first = await listArtifacts(db, { limit: 3 })
      const then = await listArtifacts(db, { runId: 'r', after: first.at(-1)!.position })
      expect([...first, ...then].map((one) => one.artifact_id)).toEqual(ids)
    })

    it('a decided approval, and one whose call was cancelled, wait no more', async () => {
      const { log, root } = family()
      root.user(
        'approval_decided',
        { decision: 'rejected', decided: DECIDED, argumentsHash: HASH, reason: 'no' },
        { toolCallId: 'r1.t1.c1' },
      )
      const db = await open(log)
      expect(await listApprovals(db, { state: 'pending' })).toEqual([])
      expect(await listApprovals(db, { runId: 'r1' })).toMatchObject([
        { status: 'rejected', decided_by: 'user:ann', decided_claimed: 1, decision_reason: 'no' },
      ])
      const other = family()
      other.root.endCall('r1.t1.c1', 'run_command', { code: 'CANCELLED', message: 'x' })
      expect(await listApprovals(await open(other.log), { state: 'pending' })).toEqual([])
    })

    it('page in the order in which they were asked for, by state and by run, without gaps or repeats', async () => {
      const { log, actor } = world()
      const asked: { id: string; run: string; state: string }[] = []
      for (let i = 0; i < 24; i++) {
        // Ids in another order than that of the asking.
        const root = actor(`r${(i * 7) % 24}`)
        root.start()
        root.beginTurn()
        root.answer(['run_command'])
        const id = root.calls[0]!.id
        const state = ['pending', 'approved', 'rejected', 'cancelled'][i % 4]!
        const body = { toolName: 'run_command', argumentsRef: root.given(0), argumentsHash: HASH, reason: 'sensitive' }
        root.write('approval_requested', { ...body, expiresAt: new Date(T0).toISOString() }, { toolCallId: id })
        if (state === 'cancelled') root.endCall(id, 'run_command', { code: 'CANCELLED', message: 'x' })
        else if (state !== 'pending')
          root.user('approval_decided', { decision: state, decided: DECIDED, argumentsHash: HASH }, { toolCallId: id })
        asked.push({ id, run: root.id, state })
      }
      const db = await open(log)
      const pages = async (which: { state?: string; runId?: string }) => {
        const ids: string[] = []
        for (let after = 0; ids.length <= asked.length; ) {
          const page = await listApprovals(db, { ...which, after, limit: 4 })
          expect(page.length).toBeLessThanOrEqual(4)
          if (page.length === 0) return ids
          ids.push(...page.map((row) => row.tool_call_id))
          after = page.at(-1)!.requested_position
        }
        return ids
      }
      const those = (state: string) => asked.filter((one) => one.state === state).map((one) => one.id)
      for (const state of ['pending', 'approved', 'rejected'])
        expect(await pages({ state }), state).toEqual(those(state))
      expect(await pages({})).toEqual(asked.map((one) => one.id))
      expect(await pages({ runId: asked[5]!.run })).toEqual([asked[5]!.id])
      expect(await pages({ runId: asked[5]!.run, state: 'rejected' })).toEqual([])
    })
  })
}
