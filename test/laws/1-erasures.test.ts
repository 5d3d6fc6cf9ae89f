import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agent } from '../../domain/agent/decide/aggregate.ts'
import { type AgentEvent, agentBodies } from '../../domain/agent/events/events.ts'
import { digestOf } from '../../domain/agent/state/digest.ts'
import { evolveAgent } from '../../domain/agent/state/evolve.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { law } from '../support/laws.ts'
import { planArbitrary } from '../support/plans.ts'
import { movesArbitrary, walk } from '../support/walk.ts'
import { World } from '../support/world.ts'

// Law 1, where bodies were erased: what is left of them folds to the digests of the whole, whichever they were.

const erased = (event: AgentEvent): AgentEvent =>
  ({ ...event, body: agent.erasing.residue(event.type, event.body, event.bodyHash) }) as AgentEvent

function holds(events: readonly AgentEvent[], gone: (index: number) => boolean): void {
  let whole: AgentState | null = null
  let left: AgentState | null = null
  for (const [index, event] of events.entries()) {
    const residue = gone(index) ? erased(event) : event
    expect(agentBodies[event.type].safeParse(residue.body).success, `${event.type} keeps its shape`).toBe(true)
    whole = evolveAgent(whole, event)
    left = evolveAgent(left, residue)
    expect(digestOf(left), `after ${event.type} at ${event.revision}`).toBe(digestOf(whole))
  }
}

test('any bodies of a walk can be erased, and its digests stay', async () => {
  await law(fc.tuple(planArbitrary, movesArbitrary, fc.nat(6)), 120, ([plan, moves, nth]) => {
    const { events } = walk(plan, moves, () => undefined)
    holds(events, (index) => nth === 0 || index % (nth + 1) === 1)
  })
})

test('any bodies of a driven run can be erased, and its digests stay', async () => {
  await law(fc.tuple(planArbitrary, fc.nat(6)), 25, async ([plan, nth]) => {
    const world = new World(plan)
    await world.live()
    holds(await world.events(), (index) => nth === 0 || index % (nth + 1) === 1)
  })
})

test('nothing that was said is left', async () => {
  await law(fc.tuple(planArbitrary, movesArbitrary), 60, ([plan, moves]) => {
    const marked = (value: unknown, said: (key: string) => boolean): unknown => {
      if (typeof value === 'string') return value
      if (Array.isArray(value)) return value.map((member) => marked(member, said))
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value).map(([key, member]) => [key, said(key) ? mark(member) : marked(member, said)]),
      )
    }
    for (const event of walk(plan, moves, () => undefined).events) {
      const said = (key: string) => SAID.has(key) || (key === 'reason' && !REASONS_OF_ITS_OWN.has(event.type))
      const left = agent.erasing.residue(event.type, marked(event.body, said), event.bodyHash)
      if (event.type !== 'agent_started') expect(JSON.stringify(left), event.type).not.toContain(MARK)
    }
  })
})

const MARK = 'said by a person'
/** Members of bodies that hold what people, models and tools have written. */
const SAID = new Set([
  'text',
  'result',
  'message',
  'summary',
  'nextSteps',
  'evidence',
  'partialOutput',
  'warning',
  'key',
  'created',
  'changed',
  'detail',
  'path',
  'title',
])
/** Their reason is the program's own word. */
const REASONS_OF_ITS_OWN: ReadonlySet<string> = new Set(['model_routed', 'recovery'])
const mark = (value: unknown) => (typeof value === 'string' || value === null ? MARK : { [MARK]: value })
