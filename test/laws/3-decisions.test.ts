import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideFork } from '../../domain/agent/decide/decide-fork.ts'
import { owed } from '../../domain/agent/decide/owed.ts'
import { AGENT_FOLD, digestOf } from '../../domain/agent/state/digest.ts'
import { evolveAgent } from '../../domain/agent/state/evolve.ts'
import { isFinished } from '../../domain/agent/state/state.ts'
import { checkTransition } from '../support/invariants.ts'
import { law } from '../support/laws.ts'
import { planArbitrary } from '../support/plans.ts'
import { movesArbitrary, walk } from '../support/walk.ts'

// Law 3: decide never emits what evolve refuses (a refusal would be thrown out of the walk); a finished agent owes
// nothing, and its history grows by nothing but the listed bookkeeping.

test('no command in any state leads to an impossible event; the state machine keeps its table', async () => {
  await law(fc.tuple(planArbitrary, movesArbitrary), 300, ([plan, moves]) => {
    walk(plan, moves, (before, event, after) => {
      if (before !== null && isFinished(before))
        expect(['erased', 'late_outcome', 'model_late', 'tool_call_resolved']).toContain(event.type)
      checkTransition(before, after, event)
      if (isFinished(after)) expect(owed(after)).toEqual([])
    })
  })
})

test('the walks reach every row of the table', () => {
  const seen = new Set<string>()
  for (const [plan, moves] of fc.sample(fc.tuple(planArbitrary, movesArbitrary), { seed: 7, numRuns: 300 }))
    walk(plan, moves, (before, _, after) => seen.add(`${before?.machine.status} ${after.machine.status}`))
  for (const pair of [
    'IDLE THINKING',
    'IDLE RECOVERY',
    'THINKING TOOL_WAIT',
    'THINKING OBSERVATION',
    'TOOL_WAIT OBSERVATION',
    'OBSERVATION THINKING',
    'OBSERVATION DONE',
    'OBSERVATION RECOVERY',
    'OBSERVATION IDLE',
    'OBSERVATION ERROR',
    'RECOVERY DONE',
    'RECOVERY ERROR',
    'IDLE ERROR',
  ])
    expect(seen).toContain(pair)
})

test('every state can be forked, and the fork is a state that goes on or waits', async () => {
  await law(fc.tuple(planArbitrary, movesArbitrary), 80, ([plan, moves]) => {
    const { state } = walk(plan, moves, () => undefined)
    const body = {
      stream: 'agent-a1',
      revision: state.revision,
      hash: '0'.repeat(64),
      digest: { fold: AGENT_FOLD, value: digestOf(state) },
      step: state.step,
      workspace: null,
      changes: {},
    }
    const facts = {
      now: state.at,
      salt: () => new Uint8Array(16),
      jitter: () => 0,
      by: { kind: 'user', id: 'u' } as const,
      commandId: 'fork',
    }
    const { event, after } = decideFork(state, 'b1', body, facts)
    expect(evolveAgent(state, event)).toEqual(after)
    expect(after).toMatchObject({ agentId: 'b1', driver: null, cancel: null, step: state.step, turn: state.turn })
    expect(['IDLE', 'OBSERVATION']).toContain(after.machine.status)
  })
})
