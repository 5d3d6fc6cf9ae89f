import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideFork } from '../../domain/agent/decide/decide-fork.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { AGENT_FOLD, digestOf } from '../../domain/agent/state/digest.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { Transcript } from '../../domain/agent/state/transcript.ts'
import { inputsHash, requestInputs } from '../../domain/agent/window/request.ts'
import { casesOf } from '../support/cases.ts'
import { law } from '../support/laws.ts'
import { planArbitrary } from '../support/plans.ts'
import { movesArbitrary, walk } from '../support/walk.ts'

// What the state counts as messages are the messages that the model sees, at every event; a request names them by number
// and commits to their wording.

test('the root of messages counts them, and a request says how many were sent and what they said', async () => {
  let requests = 0
  await law(fc.tuple(planArbitrary, movesArbitrary), 200, ([plan, moves]) => {
    const transcript = new Transcript()
    walk(plan, moves, (_, event, after) => {
      const before = transcript.rendered.hash
      transcript.push(event)
      expect(after.messages.count, `${event.type} at ${event.revision}`).toBe(transcript.messages.length)
      if (event.type !== 'model_call_start') return
      requests++
      const { purpose, model, estimate, request } = event.body
      const inputs = requestInputs(after, { purpose, model, maxOutputTokens: estimate.maxOutput })
      expect(inputs.segments).toEqual([{ kind: 'keep', from: 0, to: transcript.messages.length }])
      expect(request.inputs).toBe(inputsHash(after.hashSalt, inputs, before))
    })
  })
  expect(requests).toBeGreaterThan(casesOf(100))
})

test('so they do in a fork of any event', async () => {
  await law(fc.tuple(planArbitrary, movesArbitrary, fc.nat()), 100, ([plan, moves, n]) => {
    const history: { event: AgentEvent; state: AgentState }[] = []
    walk(plan, moves, (_, event, state) => history.push({ event, state }))
    const at = n % history.length
    const { state } = history[at]!
    const transcript = new Transcript()
    for (const { event } of history.slice(0, at + 1)) transcript.push(event)
    const { revision, step } = state
    const named = {
      stream: 'agent-a1',
      revision,
      hash: '0'.repeat(64),
      digest: { fold: AGENT_FOLD, value: digestOf(state) },
      step,
    }
    const by = { kind: 'user', id: 'u' } as const
    const facts = { now: state.at, salt: () => new Uint8Array(16), jitter: () => 0, by, commandId: 'fork' }
    const fork = decideFork(state, 'b1', { ...named, workspace: null, changes: {} }, facts)
    transcript.push(fork.event)
    expect(fork.after.messages.count).toBe(transcript.messages.length)
  })
})

test('a branch goes on as the transcript would, and leaves it as it was', async () => {
  await law(fc.tuple(planArbitrary, movesArbitrary, fc.nat()), 60, ([plan, moves, n]) => {
    const { events } = walk(plan, moves, () => undefined)
    const transcript = new Transcript()
    const at = n % events.length
    for (const event of events.slice(0, at)) transcript.push(event)
    const [branch, before] = [transcript.branch(), transcript.rendered]
    for (const event of events.slice(at)) branch.push(event)
    expect(transcript.rendered).toEqual(before)
    for (const event of events.slice(at)) transcript.push(event)
    expect(branch.rendered).toEqual(transcript.rendered)
  })
})
