import fc from 'fast-check'
import { expect, test } from 'vitest'
import { owed } from '../../domain/agent/decide/owed.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { undecided } from '../../domain/agent/state/loss-rules.ts'
import { type AgentState, callsOf, isFinished } from '../../domain/agent/state/state.ts'
import { Transcript } from '../../domain/agent/state/transcript.ts'
import { toolCalls } from '../../projections/agent/rows/tool-calls.ts'
import { law } from '../support/laws.ts'
import { LostEffects } from '../support/lost-calls.ts'
import { planArbitrary } from '../support/plans.ts'
import { cutsArbitrary, movesArbitrary, walk } from '../support/walk.ts'

// Laws 3 and 5 of a log that has lost its end, at any boundary: decide emits nothing that evolve refuses, no irreversible
// effect of the lost part happens twice without a decision from after the loss, and the tables and the fold agree on
// what waits for such a decision.

const walks = fc.tuple(planArbitrary, movesArbitrary, cutsArbitrary)

/** Fixed: whether a sample of walks reaches a rare event must not depend on chance. */
const SEED = 5

test('no effect of a lost part happens again unless a person lets it', async () => {
  await law(walks, 300, ([plan, moves, cuts]) => {
    let effects = new LostEffects()
    const see = (_: AgentState | null, event: AgentEvent, after: AgentState) => {
      expect(effects.see(event)).toBeNull()
      if (isFinished(after)) expect(owed(after)).toEqual([])
    }
    const lost = (kept: readonly AgentEvent[]) => {
      effects = new LostEffects()
      for (const event of kept) effects.see(event)
    }
    const { state, events } = walk(plan, moves, see, cuts, lost)
    const transcript = new Transcript()
    for (const event of events) transcript.push(event)
    expect(state.messages.count).toBe(transcript.messages.length)
    agrees(state, events)
  })
})

test('the walks reach every event that a loss brings', () => {
  const reached = new Set<string>()
  for (const [plan, moves, cuts] of fc.sample(walks, { numRuns: 400, seed: SEED }))
    walk(plan, moves, (_, event) => reached.add(event.type), cuts)
  expect([...reached]).toEqual(expect.arrayContaining(['loss_accepted', 'lost_call_decided', 'loss_released']))
})

/** The rows that show an unknown outcome are the calls of which the state says that a person decides. */
function agrees(state: AgentState, events: readonly AgentEvent[]): void {
  const status = new Map<string, unknown>()
  for (const event of events) {
    const seen = { ...event, position: event.revision, time: '' } as never
    for (const change of toolCalls(seen))
      if (change.kind === 'put' && change.columns.status !== undefined)
        status.set(String(change.key.id), change.columns.status)
  }
  const unknown = [...status].flatMap(([id, shown]) => (shown === 'unknown' ? [id] : []))
  const open = callsOf(state).flatMap(({ id, stage }) => (stage.at === 'doubt' ? [id] : []))
  const waiting = new Set([...open, ...undecided(state).map(({ id }) => id)])
  if (!isFinished(state)) expect(new Set(unknown)).toEqual(waiting)
  else for (const id of [...unknown, ...waiting]) expect(state.unresolved).toContain(id)
}
