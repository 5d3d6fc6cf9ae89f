import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideAgent } from '../../domain/agent/decide/decide.ts'
import { owed } from '../../domain/agent/decide/owed.ts'
import { wakeAt } from '../../domain/agent/decide/wake-at.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { undecided } from '../../domain/agent/state/loss-rules.ts'
import { type AgentState, callsOf, isFinished } from '../../domain/agent/state/state.ts'
import { Transcript } from '../../domain/agent/state/transcript.ts'
import { law } from '../support/laws.ts'
import { planArbitrary } from '../support/plans.ts'
import { cutsArbitrary, movesArbitrary, walk } from '../support/walk.ts'

// Law 3 of wake times: a wake time may be too early, which costs a wasted look, and is never too late.

const FOREVER = 10 * 365 * 24 * 3_600_000
const walks = fc.tuple(planArbitrary, movesArbitrary, fc.oneof(fc.constant([]), cutsArbitrary))

/** How many events a new driver records that claims the agent at an instant and goes on as far as it can. */
function recorded(state: AgentState, events: readonly AgentEvent[], now: number): number {
  const transcript = new Transcript()
  for (const event of events) transcript.push(event)
  const context = {
    ...{ now, salt: () => new Uint8Array(16), jitter: () => 0.5, commandId: 'look' },
    ...{ by: { kind: 'driver', id: 'new' } as const, transcript: () => transcript.branch() },
  }
  const identity = { agentId: state.agentId, runId: state.runId, revision: state.revision }
  const claimed = decideAgent(state, identity, { kind: 'claim', driverId: 'new', build: 'test' }, context).state!
  const driver = { id: 'new', epoch: claimed.driver?.epoch ?? 0 }
  const next = { ...identity, revision: claimed.revision }
  return decideAgent(claimed, next, { kind: 'proceed' }, { ...context, driver }).drafts.length
}

/** An effect is in flight, or comes when its delay is over. A lost call without a decision holds all of them. */
const inFlight = (state: AgentState): boolean =>
  undecided(state).length === 0 && owed(state).some(({ kind }) => kind !== 'wake')

/** A call waits for its next attempt. A new driver need not wait for it, and is not woken for it before. */
const waitsToRetry = (state: AgentState, now: number): boolean =>
  callsOf(state).some(({ stage }) => stage.at === 'running' && stage.notBefore > now)

test('a driver that looks before the wake time finds nothing to do, and what is in flight is due (law)', async () => {
  await law(walks, 300, ([plan, moves, cuts]) => {
    const { state, events } = walk(plan, moves, () => undefined, cuts)
    const wake = wakeAt(state)
    if (isFinished(state) || wake === null) {
      expect(wake).toBeNull()
      expect(isFinished(state) ? [] : inFlight(state)).toEqual(isFinished(state) ? [] : false)
      if (!isFinished(state)) expect(recorded(state, events, state.at + FOREVER)).toBe(0)
    } else if (wake > state.at && !waitsToRetry(state, state.at)) {
      expect(inFlight(state)).toBe(false)
      expect(recorded(state, events, wake - 1)).toBe(0)
    }
  })
})

test('a driver that looks at the wake time goes on, unless a pause holds it (law)', async () => {
  await law(walks, 300, ([plan, moves, cuts]) => {
    const { state, events } = walk(plan, moves, () => undefined, cuts)
    const wake = wakeAt(state)
    if (wake === null || state.paused) return
    expect(inFlight(state) || recorded(state, events, Math.max(wake, state.at)) > 0).toBe(true)
  })
})

test('the walks reach agents that are due, that wait for time and that wait for people', () => {
  const seen = new Set<string>()
  for (const [plan, moves, cuts] of fc.sample(walks, { seed: 3, numRuns: 200 })) {
    const { state } = walk(plan, moves, () => undefined, cuts)
    const wake = wakeAt(state)
    seen.add(isFinished(state) ? 'finished' : wake === null ? 'people' : wake > state.at ? 'time' : 'due')
  }
  expect([...seen].sort()).toEqual(['due', 'finished', 'people', 'time'])
})
