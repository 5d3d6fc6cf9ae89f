import { describe, expect, it } from 'vitest'
import { waitingFor } from '../../domain/agent/decisions/owed.ts'
import { digestOf } from '../../domain/agent/state/digest.ts'
import { endOf } from '../../domain/runtime/look.ts'
import { Decider } from '../support/decider.ts'
import { toolSpec } from '../support/harness.ts'

// An accepted loss: calls that began in the lost part of the log are unknown outcomes (DESIGN, a lost end is never silent).

const HASH = 'a'.repeat(64)
const tool = (name: string, effect: 'irreversible' | 'idempotent') =>
  ({ spec: toolSpec(name, { effect }), run: async () => ({ content: '' }) }) as never
const pay = tool('pay', 'irreversible')
const note = tool('note', 'idempotent')
const types = (events: readonly { type: string }[]) => events.map(({ type }) => type)

/** An agent whose log ends where its model was asked, and whose lost part held one irreversible call. */
function shortened(loss: { unlisted?: true; calls?: readonly object[] } = {}) {
  const given = new Decider({}, [pay, note])
  const driver = given.claim('d1')
  given.take({ kind: 'proceed' }, driver)
  const twin = new Decider({}, [pay, note])
  const other = twin.claim('d1')
  twin.take({ kind: 'proceed' }, other)
  const planned = twin.answers(other, ['pay', { to: 'x' }])[0]!
  const { argumentsHash } = (planned.body as { calls: { argumentsHash: string }[] }).calls[0]!
  const call = { toolCallId: 'run1.t1.c0', toolName: 'pay', argumentsHash, effect: 'irreversible' }
  given.take({ kind: 'accept_loss', loss: { revision: 9, hash: HASH, calls: [call], ...loss } as never })
  return { given, call }
}

describe('a run whose log has lost its end', () => {
  it('asks a person about each call that began in the lost part, and begins nothing before', () => {
    const { given, call } = shortened()
    const driver = given.claim('d2')
    expect(waitingFor(given.state)).toBe('doubt')
    expect(endOf(given.state)).toEqual({ end: 'waiting', for: 'doubt', toolCallIds: [call.toolCallId] })
    expect(types(given.take({ kind: 'proceed' }, driver))).toEqual([])
  })

  it('runs the call where a person says that it did not happen', () => {
    const { given, call } = shortened()
    given.take({ kind: 'resolve_doubt', toolCallId: call.toolCallId, decision: 'run' })
    const driver = given.claim('d2')
    expect(types(given.take({ kind: 'proceed' }, driver))).toContain('model_call_start')
    given.take({ kind: 'model_answered', turn: 1, attempt: 2, ...answer('pay', { to: 'x' }) }, driver)
    expect(given.state.machine).toMatchObject({ calls: [{ stage: { at: 'running' } }] })
  })

  it('ends the call without running it where a person says that it happened', () => {
    const { given, call } = shortened()
    const said = given.take({
      kind: 'resolve_doubt',
      toolCallId: call.toolCallId,
      decision: 'happened',
      result: 'paid 5',
    })
    expect(types(said)).toEqual(['lost_call_decided', 'user_input'])
    expect(said[1]!.body).toMatchObject({ text: expect.stringContaining('paid 5') })
    const driver = given.claim('d2')
    given.take({ kind: 'proceed' }, driver)
    const events = given.take({ kind: 'model_answered', turn: 1, attempt: 2, ...answer('pay', { to: 'x' }) }, driver)
    expect(events.find(({ type }) => type === 'tool_call_end')!.body).toMatchObject({ success: true })
    expect(events.some(({ type, body }) => type === 'tool_call_start' && (body as { intent: boolean }).intent)).toBe(
      false,
    )
  })

  it('fails the call once where a person gives it up', () => {
    const { given, call } = shortened()
    given.take({ kind: 'resolve_doubt', toolCallId: call.toolCallId, decision: 'abandon' })
    const driver = given.claim('d2')
    given.take({ kind: 'proceed' }, driver)
    const events = given.take({ kind: 'model_answered', turn: 1, attempt: 2, ...answer('pay', { to: 'x' }) }, driver)
    expect(events.find(({ type }) => type === 'tool_call_end')!.body).toMatchObject({
      error: { code: 'UNKNOWN_OUTCOME' },
    })
    expect(given.state.loss).toBeNull()
  })

  it('takes one word of a person on each call', () => {
    const { given, call } = shortened()
    given.take({ kind: 'resolve_doubt', toolCallId: call.toolCallId, decision: 'happened' })
    const again = () => given.take({ kind: 'resolve_doubt', toolCallId: call.toolCallId, decision: 'run' })
    expect(again).toThrow(/no open call/)
  })

  it('does not ask about a call that may run again', () => {
    const { given } = shortened({
      calls: [{ toolCallId: 'run1.t1.c0', toolName: 'note', argumentsHash: HASH, effect: 'idempotent' }],
    })
    expect(given.state.loss).toBeNull()
  })
})

describe('a run whose lost calls are not known', () => {
  it('holds every irreversible call as an unknown outcome until a person releases the run', () => {
    const { given } = shortened({ calls: [], unlisted: true })
    const driver = given.claim('d2')
    given.take({ kind: 'proceed' }, driver)
    const events = given.take({ kind: 'model_answered', turn: 1, attempt: 2, ...answer('pay', { to: 'y' }) }, driver)
    expect(types(events)).toContain('tool_call_unknown')
    expect(waitingFor(given.state)).toBe('doubt')
    given.take({ kind: 'resolve_doubt', toolCallId: 'run1.t1.c0', decision: 'run' })
    given.take({ kind: 'proceed' }, driver)
    expect(given.state.machine).toMatchObject({ calls: [{ stage: { at: 'running' } }] })
  })

  it('lets calls run that may run again', () => {
    const { given } = shortened({ calls: [], unlisted: true })
    const driver = given.claim('d2')
    given.take({ kind: 'proceed' }, driver)
    given.take({ kind: 'model_answered', turn: 1, attempt: 2, ...answer('note', {}) }, driver)
    expect(given.state.machine).toMatchObject({ calls: [{ stage: { at: 'running' } }] })
  })

  it('runs irreversible calls again after the release', () => {
    const { given } = shortened({ calls: [], unlisted: true })
    expect(types(given.take({ kind: 'release_loss' }))).toEqual(['loss_released'])
    const driver = given.claim('d2')
    given.take({ kind: 'proceed' }, driver)
    given.take({ kind: 'model_answered', turn: 1, attempt: 2, ...answer('pay', { to: 'y' }) }, driver)
    expect(given.state.machine).toMatchObject({ calls: [{ stage: { at: 'running' } }] })
    expect(() => given.take({ kind: 'release_loss' })).toThrow(/no loss/)
  })
})

it('leaves the digest of a run without a loss as it was', () => {
  const { given } = shortened({ calls: [] })
  expect(given.state.loss).toBeNull()
  const { loss: _, ...before } = given.state
  expect(digestOf(given.state)).toBe(digestOf(before as never))
})

function answer(name: string, input: object) {
  const content = [{ type: 'tool_use', id: 'p0', name, input: input as never }] as const
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }
  return {
    outcome: { content, stopReason: 'tool_use', usage, servedBy: 'test-model' },
    durationMs: 1,
    paths: [],
  } as const
}
