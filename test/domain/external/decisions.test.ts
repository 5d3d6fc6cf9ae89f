import { describe, expect, it, test } from 'vitest'
import { questionHash } from '../../../domain/calls/question-hash.ts'
import { external } from '../../../domain/external/aggregate.ts'
import type { ExternalCommand } from '../../../domain/external/commands.ts'
import { owedExternal } from '../../../domain/external/owed.ts'
import { EXITED, Run, running, START } from '../../support/external/decider.ts'

// given events / when a command / then events

const then = (run: Run, command: ExternalCommand, id?: string) =>
  run.decide(command, id).map(({ event }) => [event.type, event.body])
const text = (message: string) => ({ kind: 'TextOutput', text: message }) as const

describe('a start', () => {
  it('records request, backend and capabilities', () => {
    const run = new Run()
    expect(then(run, START)).toEqual([
      [
        'external_started',
        {
          backend: 'fake',
          request: { prompt: 'go', timeoutMs: 60_000 },
          capabilities: ['agent_api.run'],
        },
      ],
    ])
  })
  it('is recorded once for one command, and refused for another', () => {
    const run = new Run()
    run.decide(START, 'key:1')
    expect(then(run, START, 'key:1')).toEqual([])
    expect(() => run.decide(START, 'key:2')).toThrow(expect.objectContaining({ code: 'RUN_EXISTS' }))
    expect(() => new Run().decide({ kind: 'cancel' })).toThrow(expect.objectContaining({ code: 'RUN_UNKNOWN' }))
  })
})

describe('the intent of a process', () => {
  it('is recorded by the driver that holds the run, once', () => {
    const run = new Run(START)
    expect(then(run, { kind: 'proceed' })).toEqual([])
    expect(owedExternal(run.state!)).toEqual([])
    run.claim('d1')
    expect(then(run, { kind: 'proceed' })).toEqual([['process_start', { epoch: 1 }]])
    expect(then(run, { kind: 'proceed' })).toEqual([])
    expect(owedExternal(run.state!)).toEqual([{ kind: 'process', id: 'x1.process#1', epoch: 1 }])
  })
  it('is never recorded by a driver that has lost the run', () => {
    const run = new Run(START)
    run.claim('d1')
    const lost = run.driver!
    run.claim('d2')
    run.driver = lost
    expect(then(run, { kind: 'proceed' })).toEqual([])
  })
})

describe('a batch', () => {
  it('is recorded once, whole or as far as it is new', () => {
    const run = running()
    const [a, b, c] = [text('a'), text('b'), text('c')]
    expect(then(run, { kind: 'batch', first: 0, events: [a, b] })).toEqual([
      ['agent_events', { first: 0, events: [a, b] }],
    ])
    expect(then(run, { kind: 'batch', first: 0, events: [a, b] })).toEqual([])
    expect(then(run, { kind: 'batch', first: 1, events: [b, c] })).toEqual([
      ['agent_events', { first: 2, events: [c] }],
    ])
    expect(() => run.decide({ kind: 'batch', first: 9, events: [a] })).toThrow(/batch is missing/)
  })
  it('that comes after the end decides nothing', () => {
    const run = running()
    run.decide({ kind: 'end', outcome: EXITED })
    expect(then(run, { kind: 'batch', first: 0, events: [text('late')] })).toEqual([])
  })
})

test('a session and usage are facts; the same session is recorded once', () => {
  const run = running()
  const usage = { scope: 'run', inputTokens: 3, cachedInputTokens: 1, outputTokens: 2, cost: null } as const
  expect(then(run, { kind: 'session', sessionId: 's1' })).toEqual([['session_known', { sessionId: 's1' }]])
  expect(then(run, { kind: 'session', sessionId: 's1' })).toEqual([])
  expect(then(run, { kind: 'usage', usage })).toEqual([['usage_reported', usage]])
  expect(run.state).toMatchObject({ sessionId: 's1', usage })
})

test('the end is recorded once, and the run owes nothing from then on', () => {
  const run = running()
  expect(then(run, { kind: 'end', outcome: EXITED })).toEqual([['external_ended', EXITED]])
  expect(then(run, { kind: 'end', outcome: { outcome: 'cancelled', exit: null } })).toEqual([])
  expect(owedExternal(run.state!)).toEqual([])
  expect(external.wakeAt(run.state!)).toBeNull()
  expect(then(run, { kind: 'cancel' })).toEqual([])
  expect(run.claim('d2')).toEqual([])
})

describe('a cancel', () => {
  it('before the process is started ends the run', () => {
    const run = new Run(START)
    expect(then(run, { kind: 'cancel', reason: 'enough' })).toEqual([
      ['cancel_requested', { reason: 'enough' }],
      ['external_ended', { outcome: 'cancelled', exit: null }],
    ])
  })
  it('of a process is recorded once; the process is no longer owed, and its end is awaited', () => {
    const run = running()
    expect(then(run, { kind: 'cancel' })).toEqual([['cancel_requested', {}]])
    expect(then(run, { kind: 'cancel' })).toEqual([])
    expect(owedExternal(run.state!)).toEqual([])
    expect(external.wakeAt(run.state!)).toBe(run.state!.cancelledAt! + 10_000)
    const cancelled = { outcome: 'cancelled', exit: { code: null, signal: 'SIGTERM' } } as const
    expect(then(run, { kind: 'end', outcome: cancelled })).toEqual([['external_ended', cancelled]])
  })
})

describe('after a crash', () => {
  it('the next driver ends what is left of the process, and records that the outcome is unknown', () => {
    const run = running()
    run.claim('d2')
    expect(owedExternal(run.state!)).toEqual([{ kind: 'reap', id: 'x1.reap#1', epoch: 1 }])
    expect(external.wakeAt(run.state!)).toBe(run.state!.at)
    expect(then(run, { kind: 'proceed' })).toEqual([])
    expect(then(run, { kind: 'reaped', ended: 1 })).toEqual([
      ['external_ended', { outcome: 'unknown', reason: expect.stringContaining('found and ended') }],
    ])
  })
  it('a late outcome of the driver before is accepted as a fact, once', () => {
    const run = running()
    run.claim('d2')
    run.decide({ kind: 'reaped', ended: 0 })
    expect(then(run, { kind: 'end', outcome: { outcome: 'unknown', reason: 'again' } })).toEqual([])
    expect(then(run, { kind: 'end', outcome: EXITED })).toEqual([['outcome_learned', EXITED]])
    expect(then(run, { kind: 'end', outcome: EXITED })).toEqual([])
  })
  it('a run whose process was not started is started by the next driver', () => {
    const run = new Run(START)
    run.claim('d1')
    expect(external.wakeAt(run.state!)).toBe(run.state!.at)
    run.claim('d2')
    expect(then(run, { kind: 'proceed' })).toEqual([['process_start', { epoch: 2 }]])
  })
})

test('a running process is looked after when its time limit and its end by force have passed', () => {
  const run = running()
  const { stage } = run.state!
  expect(external.wakeAt(run.state!)).toBe((stage.at === 'running' ? stage.since : 0) + 60_000 + 10_000)
})

describe('what the agent asks leave for', () => {
  const asks = (n: number) =>
    ({ kind: 'permission', toolCallId: `x1.t0.c${n}`, toolName: 'edit', input: { n }, reason: 'why' }) as const
  const decide = (n: number, more: object = {}) =>
    ({ kind: 'decide_permission', toolCallId: `x1.t0.c${n}`, decision: 'approved', ...more }) as const
  it('is recorded once, in order, while the process runs', () => {
    const run = running()
    expect(then(run, asks(1))).toEqual([])
    expect(then(run, asks(0))).toHaveLength(1)
    expect(then(run, asks(0))).toEqual([])
    expect(then(new Run(START), asks(0))).toEqual([])
  })
  it('is decided once, on what was looked at', () => {
    const run = running()
    run.decide(asks(0))
    const { argumentsHash } = run.state!.permissions.last[0]!
    const refused = (command: ExternalCommand, code: string) =>
      expect(() => run.decide(command)).toThrow(expect.objectContaining({ code }))
    const asked = { for: 'approval', toolCallId: 'x1.t0.c0', argumentsHash, asked: null } as const
    refused(decide(0, { questionHash: '0'.repeat(64) }), 'QUESTION_CHANGED')
    refused(decide(1), 'APPROVAL_NOT_PENDING')
    expect(then(run, decide(0, { questionHash: questionHash(asked) }))).toEqual([
      [
        'permission_decided',
        {
          ...{ toolCallId: 'x1.t0.c0', requestHash: argumentsHash, decision: 'approved' },
          decided: expect.objectContaining({ method: 'person', policyHash: null, shownHash: questionHash(asked) }),
        },
      ],
    ])
    refused(decide(0), 'APPROVAL_NOT_PENDING')
    run.decide({ kind: 'end', outcome: EXITED })
    refused(decide(0), 'APPROVAL_NOT_PENDING')
  })
  it('keeps the state small, however often it asks', () => {
    const run = running()
    for (let n = 0; n < 300; n++) {
      run.decide(asks(n))
      run.decide(decide(n), `k${n}`)
    }
    expect(run.state!.permissions).toMatchObject({ asked: 300 })
    expect(run.state!.permissions.last.length).toBeLessThanOrEqual(101)
    expect(run.state!.commands).toHaveLength(8)
    expect(run.state!.commands[0]).toBe(run.events[0]!.commandId)
  })
})

describe('a budget', () => {
  const price = { asOf: 'd', input: 2_000_000, output: 4_000_000, cacheRead: 1_000_000, cacheWrite: 0 }
  const used = (more: object = {}) =>
    ({
      kind: 'usage',
      usage: { scope: 'session', inputTokens: 10, cachedInputTokens: 4, outputTokens: 5, cost: null, ...more },
    }) as const
  const withTerms = (terms: object) => {
    const run = new Run({ ...START, request: { prompt: 'go', ...terms } } as ExternalCommand)
    run.claim('d1')
    run.decide({ kind: 'proceed' })
    return run
  }
  it('is kept with the price where the backend tells tokens alone', () => {
    const run = withTerms({ price, budget: { tokens: null, nanoDollars: 36 } })
    expect(then(run, used())).toMatchObject([
      ['usage_reported', { scope: 'run', cost: { nanoDollars: 36, scope: 'run', priced: true } }],
    ])
    expect(then(run, used({ outputTokens: 6 }))).toMatchObject([
      ['usage_reported', {}],
      ['cancel_requested', { reason: 'the budget of money is used up' }],
    ])
    expect(owedExternal(run.state!)).toEqual([])
    expect(then(run, used({ outputTokens: 7 }))).toHaveLength(1)
  })
  it('of tokens counts input and output; what a resumed session used before counts against none', () => {
    const budget = { tokens: 15, nanoDollars: null }
    expect(then(withTerms({ budget }), used())).toHaveLength(1)
    expect(then(withTerms({ budget }), used({ outputTokens: 6 }))).toHaveLength(2)
    const extensions = { 'agent_api.session.resume.v1': { selector: 'last' } }
    expect(then(withTerms({ budget, extensions }), used({ outputTokens: 6 }))).toHaveLength(1)
  })
  it("leaves a backend's own figure of the cost as it is", () => {
    const cost = { nanoDollars: 7, scope: 'session' }
    expect(then(withTerms({ price }), used({ cost }))).toMatchObject([
      ['usage_reported', { cost: { nanoDollars: 7, scope: 'run' } }],
    ])
  })
})

test('versions of the files are recorded until the run has ended, and change nothing of the state but its time', () => {
  const run = running()
  const before = run.state!
  const version = { kind: 'versioned', when: 'after', tree: 'a'.repeat(64) } as const
  expect(then(run, version)).toEqual([['files_versioned', { when: 'after', tree: 'a'.repeat(64) }]])
  expect({ ...run.state!, at: before.at }).toEqual(before)
  run.decide({ kind: 'end', outcome: EXITED })
  expect(then(run, version)).toEqual([])
})
