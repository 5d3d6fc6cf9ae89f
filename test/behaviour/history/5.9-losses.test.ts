import { describe, expect, it } from 'vitest'
import { waitingFor } from '../../../domain/agent/decide/waiting.ts'
import { endOf } from '../../../domain/agent/runtime/drive-end.ts'
import { digestOf } from '../../../domain/agent/state/digest.ts'
import { callsOf } from '../../../domain/agent/state/state.ts'
import { Transcript } from '../../../domain/agent/state/transcript.ts'
import { Decider } from '../../support/decider.ts'
import { HASH, lostPay, pay, shortened, types } from '../../support/log/shortened.ts'

// An accepted loss: calls that began in the lost part of the log are unknown outcomes (DESIGN, a lost end is never silent).

describe('a run whose log has lost its end', () => {
  it('asks a person about each call that began in the lost part, and begins nothing before', () => {
    const { given, call } = shortened()
    const driver = given.claim('d2')
    expect(waitingFor(given.state)).toBe('doubt')
    expect(endOf(given.state)).toEqual({ end: 'waiting', for: 'doubt', toolCallIds: [call.toolCallId] })
    expect(types(given.take({ kind: 'proceed' }, driver))).toEqual([])
  })

  it('bills a late answer and asks the model again, because its calls would have the ids of the lost ones', () => {
    const { given, call } = shortened()
    const driver = given.claim('d2')
    const late = given.take({ kind: 'model_answered', turn: 1, attempt: 1, ...answer('pay', { to: 'y' }) }, driver)
    expect(types(late)).toEqual(['model_attempt_lost', 'model_late'])
    expect(callsOf(given.state)).toEqual([])
    expect(waitingFor(given.state)).toBe('doubt')
    given.take({ kind: 'resolve_doubt', toolCallId: call.toolCallId, decision: 'happened' })
    const next = given.take({ kind: 'proceed' }, driver)
    expect(next.find(({ type }) => type === 'model_call_start')!.body).toMatchObject({ attempt: 2 })
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
    expect(types(said)).toEqual(['lost_call_decided'])
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

  it('does not ask again about a decided call that the tables list after a second loss', () => {
    const { given, call } = shortened()
    given.take({ kind: 'resolve_doubt', toolCallId: call.toolCallId, decision: 'happened' })
    const [accepted] = given.take({ kind: 'accept_loss', loss: { revision: 12, hash: HASH, calls: [call] } as never })
    expect(accepted!.body).toMatchObject({ calls: [] })
    given.claim('d2')
    expect(waitingFor(given.state)).not.toBe('doubt')
  })

  it('asks about a different call that began under the id of a decided one', () => {
    const { given, call } = shortened()
    given.take({ kind: 'resolve_doubt', toolCallId: call.toolCallId, decision: 'happened' })
    const calls = [lostPay(call.toolCallId)]
    given.take({ kind: 'accept_loss', loss: { revision: 12, hash: HASH, calls } })
    given.claim('d2')
    expect(waitingFor(given.state)).toBe('doubt')
    given.take({ kind: 'resolve_doubt', toolCallId: call.toolCallId, decision: 'abandon' })
    expect(given.state.loss!.calls.map(({ decided }) => decided)).toEqual(['happened', 'abandon'])
  })

  it('does not ask about a call that may run again', () => {
    const { given } = shortened({
      calls: [{ toolCallId: 'run1.t1.c0', toolName: 'note', argumentsHash: HASH, effect: 'idempotent' }],
    })
    expect(given.state.loss).toBeNull()
  })
})

describe('a decision of a person on a lost call', () => {
  const happened = (toolCallId: string) => ({ kind: 'resolve_doubt', toolCallId, decision: 'happened' }) as const

  it('is told to the model when the next turn starts, and is no input', () => {
    const given = new Decider({}, [pay])
    const transcript = new Transcript()
    const take = (...taken: Parameters<Decider['take']>) => {
      for (const event of given.take(...taken)) transcript.push(event)
    }
    const loss = { revision: 9, hash: HASH, calls: [lostPay('run1.t1.c0')] }
    take({ kind: 'accept_loss', loss })
    take({ ...happened('run1.t1.c0'), result: { paid: 5 } })
    expect(given.state.unread).toBe(1)
    const driver = given.claim('d1')
    take({ kind: 'proceed' }, driver)
    const content = 'A call of pay has happened, but its record was lost. Its result: {"paid":5}'
    expect(transcript.messages).toEqual([{ role: 'system', content }])
    // The decider's transcript lacks the task, which was given before.
    expect(given.state.messages.count).toBe(2)
    expect(given.state.loss).toMatchObject({ unsent: { count: 0 } })
  })

  it('leaves a question to a person open', () => {
    const given = new Decider({}, [pay])
    const driver = given.claim('d1')
    given.take({ kind: 'proceed' }, driver)
    given.answers(driver, ['ask_user', { question: 'Which?' }])
    given.succeeds(driver, 'ask_user')
    expect(given.state.machine).toEqual({ status: 'IDLE' })
    given.take({ kind: 'accept_loss', loss: { revision: 99, hash: HASH, calls: [lostPay('run1.t2.c0')] } })
    given.take(happened('run1.t2.c0'))
    expect(types(given.take({ kind: 'proceed' }, given.claim('d2')))).toEqual([])
    expect(waitingFor(given.state)).toBe('input')
  })

  it('is not used up by a call that is refused', () => {
    const { given, call } = shortened()
    given.take(happened(call.toolCallId))
    const driver = given.claim('d2')
    given.take({ kind: 'proceed' }, driver)
    const two = [...answer('pay', { to: 'x' }).outcome.content, { type: 'tool_use', id: 'p1', name: 'note', input: {} }]
    const { outcome, ...rest } = answer('pay', {})
    const refused = { ...rest, outcome: { ...outcome, content: two as never } }
    const ends = given.take({ kind: 'model_answered', turn: 1, attempt: 2, ...refused }, driver)
    expect(ends.filter(({ type }) => type === 'tool_call_end')).toMatchObject([
      { body: { error: { code: 'SINGLE_STEP_VIOLATION' } } },
      { body: { error: { code: 'SINGLE_STEP_VIOLATION' } } },
    ])
    const next = given.take({ kind: 'model_answered', turn: 2, attempt: 1, ...answer('pay', { to: 'x' }) }, driver)
    expect(next.filter(({ type }) => type.startsWith('tool_call'))).toMatchObject([
      { type: 'tool_call_start', body: { intent: false } },
      { type: 'tool_call_end', body: { success: true } },
    ])
    expect(given.state.loss).toBeNull()
  })

  it('can still be made after the run has ended, once', () => {
    const { given, call } = shortened()
    given.claim('d2')
    given.take({ kind: 'cancel', deadlineMs: 1_000 })
    given.take({ kind: 'proceed' }, given.claim('d3'))
    expect(given.state).toMatchObject({ machine: { status: 'ERROR' }, unresolved: [call.toolCallId] })
    expect(types(given.take(happened(call.toolCallId)))).toEqual(['lost_call_decided'])
    expect(given.state.unresolved).toEqual([])
    expect(() => given.take(happened(call.toolCallId))).toThrow(/not in doubt/)
  })

  it('can be made where the loss was accepted after the end', () => {
    const given = new Decider({}, [pay])
    given.take({ kind: 'cancel', deadlineMs: 1_000 })
    expect(given.state.machine.status).toBe('ERROR')
    given.take({ kind: 'accept_loss', loss: { revision: 99, hash: HASH, calls: [lostPay('run1.t1.c0')] } })
    expect(given.state.unresolved).toEqual(['run1.t1.c0'])
    expect(types(given.take(happened('run1.t1.c0')))).toEqual(['lost_call_decided'])
    expect(given.state.unresolved).toEqual([])
  })
})

describe('a call that began in the kept part', () => {
  /** Its outcome was not seen; `decided`: a person has said that it may run. */
  function begun({ decided }: { decided: boolean }) {
    const given = new Decider({}, [pay])
    const driver = given.claim('d1')
    given.take({ kind: 'proceed' }, driver)
    given.answers(driver, ['pay', { to: 'x' }])
    if (!decided) return given
    given.take({ kind: 'proceed' }, given.claim('d2'))
    given.take({ kind: 'resolve_doubt', toolCallId: 'run1.t1.c0', decision: 'run' })
    return given
  }
  const stage = ({ state }: Decider) => callsOf(state)[0]!.stage
  const lose = (given: Decider, unlisted: boolean) =>
    given.take({
      kind: 'accept_loss',
      loss: unlisted
        ? { revision: null, hash: null, calls: [], unlisted: true }
        : { revision: 99, hash: HASH, calls: [lostPay('run1.t1.c0', callsOf(given.state)[0]!.argumentsHash)] },
    })
  const run = { kind: 'resolve_doubt', toolCallId: 'run1.t1.c0', decision: 'run' } as const

  it.each([true, false])('is in doubt at once where it is listed (a person had let it run: %s)', (decided) => {
    const given = begun({ decided })
    lose(given, false)
    expect(stage(given)).toEqual({ at: 'doubt' })
    expect(waitingFor(given.state)).toBe('doubt')
    const said = given.take({ kind: 'resolve_doubt', toolCallId: 'run1.t1.c0', decision: 'happened' })
    expect(types(said)).toEqual(['tool_call_resolved', 'tool_call_end'])
  })

  it.each([true, false])('does not run by a decision from before the loss (unlisted: %s)', (unlisted) => {
    const given = begun({ decided: true })
    lose(given, unlisted)
    expect(types(given.take({ kind: 'proceed' }, given.claim('d3')))).toEqual(unlisted ? ['tool_call_unknown'] : [])
    expect(stage(given)).toEqual({ at: 'doubt' })
  })

  it.each([true, false])('runs by a decision from after the loss (unlisted: %s)', (unlisted) => {
    const given = begun({ decided: true })
    lose(given, unlisted)
    given.take({ kind: 'proceed' }, given.claim('d3'))
    given.take(run)
    const events = given.take({ kind: 'proceed' }, given.claim('d4'))
    expect(events).toMatchObject([{ type: 'tool_call_intent', body: { attempt: 2 } }])
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
