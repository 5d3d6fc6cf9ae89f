import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { budgetOf, committed, exposed, ownSpent, reserved } from '../../../domain/agent/state/budget-account.ts'
import type { AgentState } from '../../../domain/agent/state/state.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { idOf } from '../../../domain/log/owner.ts'
import { listOrphans } from '../../../projections/agent/queries/orphans.ts'
import { showRun } from '../../../projections/agent/queries/run.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { MemoryBlobs, testModel } from '../../support/harness.ts'
import { law } from '../../support/laws.ts'
import type { Dump, Tables, TablesKit } from '../../support/projections/kit.ts'
import type { Agents } from '../../support/tree/agents.ts'
import { chatModel, chatSpec, talker } from '../../support/tree/chatter.ts'
import { type Plan, treeArbitrary, treeSpec } from '../../support/tree/plans.ts'
import { emptyLog, Recorded } from '../../support/tree/recorded.ts'
import { play, playWith, ROOT, roughSchedules } from '../../support/tree/walk.ts'

const price = { asOf: '2026-01-01', input: 3_000_000_000, output: 15_000_000_000, cacheRead: 0, cacheWrite: 0 }
const models = { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, price }] }
const budget = fc.record({
  tokens: fc.option(fc.integer({ min: 15_000, max: 400_000 })),
  nanoDollars: fc.constantFrom(null, 3_000_000_000, 9_000_000_000),
})

type Played = { readonly recorded: Recorded; readonly agents: Agents }

/** Trees of agents that were born, killed, topped up and billed late, as a log holds them. */
const trees = fc
  .tuple(treeArbitrary, roughSchedules, budget, fc.integer({ min: 1, max: 12 }))
  .map(([plan, schedule, budget, agents]): Played => {
    const recorded = new Recorded()
    const spec = treeSpec({ budget, models }, { agents })
    return { recorded, agents: play(plan, spec, schedule, undefined, {}, recorded) }
  })

export function treeContract(kit: TablesKit): void {
  describe('trees of agents', () => {
    it('the books of every agent are those of its state, at any time (law)', async () => {
      await law(
        fc.tuple(trees, fc.array(fc.nat(400), { maxLength: 3 })),
        kit.cases(8),
        async ([{ recorded }, looks]) => {
          const states = new Map<string, AgentState>()
          const places = new Set([...looks, recorded.batches.length - 1])
          await followed(recorded, kit, async ({ after }, nth, tables, catchUp) => {
            states.set(after.agentId, after)
            if (!places.has(nth)) return
            await catchUp()
            const rows = await tables.db.selectFrom('agent_budgets').selectAll().orderBy('id').execute()
            expect(rows).toEqual([...states.values()].sort((a, b) => (a.agentId < b.agentId ? -1 : 1)).map(booksOf))
          })
        },
      )
    })

    it('a child whose birth its parent has lost is an orphan until it has ended; a known child is none', async () => {
      const leaf: Plan = { rounds: [], ends: 'completes' }
      const recorded = new Recorded()
      play({ rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' }, treeSpec(), [], undefined, {}, recorded)
      const [root, child] = [agentStream(ROOT), recorded.batches.find(({ after }) => after.depth === 1)!.stream]
      const bears = ({ stream, events }: Recorded['batches'][number]) =>
        stream === root && events.some(({ header }) => header.type === 'child_delegated')
      const parts = (of: (batch: Recorded['batches'][number], nth: number) => boolean) => {
        const part = new Recorded()
        part.batches.push(...recorded.batches.filter(of))
        return part
      }
      const birth = recorded.batches.findIndex(bears)
      const first = recorded.batches.findIndex(({ stream }) => stream === child)
      const orphans = async (part: Recorded) => listOrphans((await followed(part, kit)).tables.db)
      expect(await orphans(parts((_, nth) => nth <= first))).toEqual([])
      expect(await orphans(parts((_, nth) => nth < birth || nth === first))).toEqual([
        { agentId: idOf(child), runId: ROOT, parentId: ROOT },
      ])
      expect(await orphans(parts(({ stream }, nth) => nth < birth || stream === child))).toEqual([])
    })

    it('totals are the sums over the subtree, lineage has one run, and parents know how children ended (law)', async () => {
      await law(trees, kit.cases(8), async ({ recorded, agents }) => {
        const { tables } = await followed(recorded, kit)
        const totals = await tables.db.selectFrom('agent_lineage_totals').selectAll().execute()
        const lineage = await tables.db.selectFrom('agent_lineage').selectAll().execute()
        expect(lineage.map(({ run_id }) => run_id)).toEqual(lineage.map(() => ROOT))
        for (const row of lineage) {
          const { state } = agents.of(row.id)
          expect(row).toMatchObject({ parent_agent_id: state.parent?.agentId ?? null, depth: state.depth })
          expect(row.status).toBe(state.machine.status === 'DONE' ? 'completed' : 'failed')
          const subtree = lineage.filter(
            ({ id }) =>
              id === row.id ||
              agents.of(id).state.parent?.ancestors?.includes(row.id) ||
              agents.of(id).state.parent?.agentId === row.id,
          )
          const sum = (of: (one: (typeof lineage)[number]) => number | null) =>
            subtree.reduce((all, one) => all + of(one)!, 0)
          expect(totals.find(({ id }) => id === row.id)).toMatchObject({
            agents: subtree.length,
            total_input_tokens: sum((one) => one.usage_input_tokens),
            total_output_tokens: sum((one) => one.usage_output_tokens),
            total_nano_dollars: sum((one) => one.nano_dollars),
          })
        }
        const children = await tables.db.selectFrom('children').selectAll().execute()
        for (const child of children) {
          const { events } = recorded.batches.findLast(
            ({ after, events }) =>
              after.agentId === child.child_id && events.some(({ header }) => header.type === 'end_reported'),
          )!
          const end = events.find(({ header }) => header.type === 'end_reported')!
          const { status } = lineage.find(({ id }) => id === child.child_id)!
          expect(child).toMatchObject({ status, head_revision: end.header.revision, head_hash: end.hash })
        }
      })
    })

    it('any interleaving of the streams gives the same tables, and so does a rebuild (law)', async () => {
      await law(
        fc.tuple(trees, fc.array(fc.nat(999), { minLength: 1 })),
        kit.cases(6),
        async ([{ recorded }, order]) => {
          const told = (dump: Dump) => withoutPlaces(dump)
          const live = await followed(recorded, kit, async (_, nth, __, catchUp) => {
            if (nth % 7 === 0) await catchUp()
          })
          const other = await followed(mixed(recorded, order), kit)
          expect(told(await other.tables.dump())).toEqual(told(await live.tables.dump()))
        },
      )
    })

    it('the tree of a run shows each agent with its books and totals', async () => {
      const leaf = { rounds: [], ends: 'completes' } as const
      const talks = { rounds: [], ends: 'talks' } as const
      const plan = { rounds: [{ children: [leaf, talks], looks: 1 }], ends: 'completes' } as const
      const recorded = new Recorded()
      play(plan, treeSpec({ budget: { tokens: 100_000, nanoDollars: null } }), [], undefined, {}, recorded)
      const { tables } = await followed(recorded, kit)
      const [root] = (await showRun(tables.db, ROOT))!.tree
      expect(root!.children.map(({ agent }) => agent.status).sort()).toEqual(['completed', 'failed'])
      expect([root!.task, ...root!.children.map(({ task }) => task).sort()]).toEqual(['do it', '0:0', '0:1'])
      expect(root!.budget).toMatchObject({
        budget_tokens: 100_000,
        budget_nano_dollars: null,
        reserved_tokens: 0,
        spent_agents: 3,
      })
      const used = ({ input, output }: { input: number; output: number }) => input + output
      expect(used(root!.total)).toBe(used(root!.own) + root!.children.reduce((all, { own }) => all + used(own), 0))
      expect(root!.budget!.spent_tokens).toBe(used(root!.total))
    })

    it('messages are rows where they were sent, and those that were taken have receipts', async () => {
      const recorded = new Recorded()
      const says = [{ does: 'send', to: 1 }] as const
      const chat = [[says, [{ does: 'send', to: -1 }]], [[{ does: 'publish', topic: 'a' }]]] as const
      playWith(chatModel(ROOT, chat), chatSpec(), [], undefined, {}, recorded)
      const { tables } = await followed(recorded, kit)
      const rows = await tables.db.selectFrom('messages').selectAll().execute()
      const [first, second] = [talker(ROOT, 0), talker(ROOT, 1)]
      const to = (recipient: string | null) => rows.find((row) => row.recipient === recipient)
      expect(rows).toHaveLength(3)
      expect(to(second)).toMatchObject({ sender: first, agent_id: first, type: 'event', run_id: ROOT })
      expect(to(null)).toMatchObject({ sender: second, topic: 'a' })
      const receipts = await tables.db.selectFrom('message_receipts').selectAll().execute()
      expect(receipts.map(({ agent_id, id }) => [agent_id, id])).toEqual([[second, to(second)!.id]])
      const bounces = await tables.db.selectFrom('bounces').selectAll().execute()
      expect(bounces).toMatchObject([{ agent_id: first, revision: to('no-such-agent')!.revision }])
    })
  })
}

/** The expected row of `agent_budgets` for an agent. */
function booksOf(state: AgentState) {
  const [budget, own, taken, open, late] = [
    budgetOf(state),
    ownSpent(state),
    committed(state),
    reserved(state.family),
    exposed(state.family),
  ]
  const { uncertain } = state.family.settled
  const kinds = { tokens: 'tokens', nanoDollars: 'nano_dollars', agents: 'agents' } as const
  const columns = Object.entries(kinds).flatMap(([kind, name]) => {
    const of = (amounts: Record<keyof typeof kinds, number | null>) => amounts[kind as keyof typeof kinds]
    const unknown = of(late)! + of(uncertain)!
    return [
      [`budget_${name}`, of(budget)],
      [`spent_${name}`, of(own)! + of(taken)! - of(open)! - unknown],
      [`reserved_${name}`, of(open)],
      [`uncertain_${name}`, unknown],
    ]
  })
  return { id: state.agentId, run_id: state.runId, ...Object.fromEntries(columns) }
}

type Look = (
  batch: Recorded['batches'][number],
  nth: number,
  tables: Tables,
  catchUp: () => Promise<unknown>,
) => Promise<void>

/** The tables of a tree that was appended to a log, at whose end they are. */
async function followed(recorded: Pick<Recorded, 'into'>, kit: TablesKit, look?: Look) {
  const [log, blobs, tables] = [emptyLog(), new MemoryBlobs(), await kit.fresh()]
  const store = await tables.open()
  const projector = new Projector({ log, blobs, store })
  try {
    await recorded.into(log, async (batch, nth) => look?.(batch, nth, tables, () => projector.catchUp()))
    await projector.catchUp()
  } finally {
    await store.close()
  }
  return { tables }
}

/** The same streams, each in its order, in another order beside each other. */
function mixed({ batches }: Recorded, order: readonly number[]): Pick<Recorded, 'into'> {
  return {
    async into(log, each = async () => undefined) {
      const streams = [...Map.groupBy(batches, ({ stream }) => stream).values()].map((own) => [...own])
      for (let i = 0; streams.length > 0; i++) {
        const at = order[i % order.length]! % streams.length
        const batch = streams[at]!.shift()!
        if (streams[at]!.length === 0) streams.splice(at, 1)
        await log.append(batch.stream, batch.expected, batch.events, 10_000)
        await each(batch, i)
      }
    },
  }
}

/** Rows without their places in the log, which the interleaving decides. */
const withoutPlaces = ({ position: _, event_rows: __, ...tables }: Dump): Dump =>
  Object.fromEntries(
    Object.entries(tables).map(([table, rows]) => [
      table,
      rows
        .filter((row) => row.stream !== 'log-meta')
        .map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !/position$|^started$/.test(name)))),
    ]),
  )
