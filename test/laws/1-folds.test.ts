import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf } from '../../domain/agent/state/digest.ts'
import { evolveAgent, fold } from '../../domain/agent/state/evolve.ts'
import { type AgentState, callsOf } from '../../domain/agent/state/state.ts'
import { law } from '../support/laws.ts'
import { planArbitrary } from '../support/plans.ts'
import { cutsArbitrary, movesArbitrary, walk } from '../support/walk.ts'
import { World } from '../support/world.ts'

// Law 1: folding all = folding a prefix, then the rest, for every split; = snapshot + tail after a JSON round trip;
// = checkpoint N as it is asked for.

test('a fold can be cut anywhere, and goes on from a snapshot that was written as JSON', async () => {
  const losing = fc.oneof(fc.constant([]), cutsArbitrary)
  await law(fc.tuple(planArbitrary, movesArbitrary, losing), 50, ([plan, moves, cuts]) => {
    const { state, events } = walk(plan, moves, () => undefined, cuts)
    let prefix: AgentState | null = null
    for (const [split, event] of events.entries()) {
      prefix = evolveAgent(prefix, event)
      const snapshot = JSON.parse(JSON.stringify(prefix)) as AgentState
      expect(snapshot).toStrictEqual(prefix)
      expect(digestOf(snapshot)).toBe(digestOf(prefix))
      // Every split of a short history, some of a long one.
      if (events.length > 40 && split % 7 !== 0) continue
      expect(fold(snapshot, events.slice(split + 1))).toEqual(state)
    }
    expect(prefix).toEqual(state)
  })
})

test('a state is small: it does not grow with the history', async () => {
  await law(fc.tuple(planArbitrary, movesArbitrary), 40, ([plan, moves]) => {
    const { state, events } = walk(
      { ...plan, maxTurns: 1_000 },
      [...moves, ...moves, ...moves, ...moves],
      () => undefined,
    )
    const { spec: _, ...rest } = state
    const most = 12_000 + 600 * callsOf(state).length
    expect(JSON.stringify(rest).length, `after ${events.length} events`).toBeLessThan(most)
  })
})

test('checkpoint N is the fold up to its event, with the digest that was recorded', async () => {
  await law(planArbitrary, 25, async (plan) => {
    const world = new World(plan)
    await world.live()
    const { runtime } = world.process
    const events = await world.events()
    let state: AgentState | null = null
    for (const event of events) {
      state = evolveAgent(state, event)
      if (event.type !== 'tool_call_end' && event.type !== 'turn_end') continue
      const at = await runtime.at(world.runId, { step: event.body.step })
      expect(at.state).toEqual(state)
      expect(at.head.revision).toBe(event.revision)
      if (event.type === 'turn_end') expect((await runtime.at(world.runId, { turn: event.turn })).state).toEqual(state)
    }
    expect((await runtime.at(world.runId, null)).state).toEqual(state)
    // Every checkpoint carries its digest, and verification holds each against its own fold.
    const checkpoints = events.filter(({ type }) => type === 'tool_call_end' || type === 'turn_end').length
    const proof = await runtime.verify(world.runId)
    expect(proof.problems).toEqual([])
    expect(proof.digests).toBeGreaterThanOrEqual(checkpoints)
  })
})
