import { expect, test } from 'vitest'
import type { AgentEvent } from '../../../domain/agent/events/events.ts'
import { totals } from '../../../domain/agent/state/budget-account.ts'
import type { ModelOutcome } from '../../../domain/ports/index.ts'
import type { Plan } from '../../support/tree/plans.ts'
import { tablesOf } from '../../support/tree/tables.ts'
import { ROOT, TreeWorld } from '../../support/tree/world.ts'

// A process that was overtaken brings in the answer of a model after the whole run has ended: through the real courier its
// usage reaches every ancestor, once.

const leaf: Plan = { rounds: [], ends: 'completes' }
const middle: Plan = { rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' }
const CHAIN: Plan = { rounds: [{ children: [middle], looks: 0 }], ends: 'completes' }
const LATE = { input: 5_000, output: 700, cacheRead: 0, cacheWrite: 0 }

/** The run has ended, and the answer that the first process waits for comes after it. */
async function overtaken() {
  const world = new TreeWorld(CHAIN)
  const planned = world.answer
  let [waits, answer]: [() => void, (outcome: ModelOutcome) => void] = [() => undefined, () => undefined]
  const waiting = new Promise<void>((resolve) => {
    waits = resolve
  })
  let held = false
  world.answer = async (request) => {
    const said = await planned(request)
    if (held || request.messages[0]?.content !== '0:0.0:0') return said
    held = true
    waits()
    return new Promise((resolve) => {
      answer = () => resolve({ ...said, usage: LATE })
    })
  }
  await world.ask(ROOT, { kind: 'start', spec: world.spec, task: 'do it' }, 'start')
  const first = world.process.runtime.drive(ROOT, { signal: new AbortController().signal })
  await waiting
  world.boot()
  expect(await world.drive()).toEqual({ end: 'done' })
  answer(null as never)
  await first.catch(() => undefined)
  return world
}

const count = async (world: TreeWorld, agentId: string, type: AgentEvent['type']) =>
  (await world.events(agentId)).filter((event) => event.type === type).length

test('usage that arrives after the end of a run reaches each ancestor once, in the streams and in the tables', async () => {
  const world = await overtaken()
  for (let again = 0; again < 3; again++) await world.drive()
  const states = [...(await world.states())].map(([, state]) => state).sort((a, b) => a.depth - b.depth)
  const [root, parent, child] = states.map(({ agentId }) => agentId)
  expect(await count(world, child!, 'model_late')).toBe(1)
  for (const id of [child!, parent!]) expect(await count(world, id, 'usage_reported'), id).toBe(1)
  for (const id of [parent!, root!]) expect(await count(world, id, 'child_usage'), id).toBe(1)
  for (const { totals: said, sums } of await world.books()) expect(said).toEqual(sums)
  expect(states[2]!.spent.input).toBeGreaterThan(LATE.input)

  const tables = await tablesOf(world)
  const { data } = await tables.read((db) => db.selectFrom('agent_lineage_totals').selectAll().execute())
  const shown = data.map((row) => [row.id, Number(row.total_input_tokens), Number(row.total_output_tokens)])
  const told = states.map((state) => [state.agentId, totals(state).spent.input, totals(state).spent.output])
  expect(shown.sort()).toEqual(told.sort())
})
