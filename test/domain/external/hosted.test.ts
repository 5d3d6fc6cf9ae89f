import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { external } from '../../../domain/external/aggregate.ts'
import { bodyFault } from '../../../domain/external/codec.ts'
import type { ExternalCommand } from '../../../domain/external/commands.ts'
import type { ExternalEvent } from '../../../domain/external/events.ts'
import { RequestBook, type WholeRequest } from '../../../domain/external/hosted/requests.ts'
import { owedExternal } from '../../../domain/external/owed.ts'
import type { ExternalState } from '../../../domain/external/state.ts'
import type { Json } from '../../../domain/log/json.ts'
import { EXITED, Run } from '../../support/external/decider.ts'
import { property } from '../../support/property.ts'

// Runs that a program hosts: its model calls, its tool calls and its transcripts.

const START: ExternalCommand = {
  ...{ kind: 'start', backend: 'ai_sdk', request: { prompt: 'order 42' }, capabilities: [] },
  hosting: {
    policy: Policy.parse({ mode: 'batch', deniedTools: ['drop'], requiresApproval: ['pay'] }),
    effects: { look: 'pure' },
  },
}
const GO_ON = { kind: 'calls_go_on' } as const

type Move = { readonly driver: string } | { readonly decides: number } | ((state: ExternalState) => ExternalCommand)

const NAMES = ['look', 'send', 'pay', 'drop'] as const
const idOf = (n: number) => `x1.t0.c${n}`
const callOf =
  (name: string) =>
  (state: ExternalState): ExternalCommand => ({
    ...{ kind: 'call', index: state.tools!.asked, providerId: 'p', name, arguments: { a: 1 }, paths: {} },
  })
const attemptOf = (state: ExternalState, n: number) => state.tools!.open.find(({ id }) => id === idOf(n))?.attempt ?? 1
const succeeds =
  (n: number) =>
  (state: ExternalState): ExternalCommand => ({
    ...{ kind: 'tool_succeeded', toolCallId: idOf(n), toolName: 'x', attempt: attemptOf(state, n), durationMs: 1 },
    result: { content: 'ok' },
  })
const asks = ({ hosted }: ExternalState): ExternalCommand => ({
  ...{ kind: 'model_asked', call: hosted!.asked, key: 'a'.repeat(64), provider: 'p', model: 'm' },
  request: { settings: {}, messages: ['hi'] },
})
const answers = (call: number): ExternalCommand => ({
  kind: 'model_ended',
  call,
  outcome: 'answered',
  durationMs: 1,
  answer: 'x',
})
const mirrors = (subpath: string | undefined): ExternalCommand => ({
  ...{ kind: 'mirrored', entries: [{ type: 'user', uuid: '1' }] },
  ...(subpath !== undefined && { subpath }),
})

const nth = fc.nat(4)
const move: fc.Arbitrary<Move> = fc.oneof(
  { arbitrary: fc.record({ driver: fc.constantFrom('d1', 'd2', 'd3') }), weight: 3 },
  { arbitrary: fc.constantFrom(...NAMES).map(callOf), weight: 6 },
  { arbitrary: fc.constant(() => GO_ON), weight: 6 },
  { arbitrary: nth.map((n) => () => ({ kind: 'call_begins', toolCallId: idOf(n) }) as const), weight: 6 },
  { arbitrary: nth.map(succeeds), weight: 4 },
  { arbitrary: fc.record({ decides: nth }), weight: 3 },
  { arbitrary: fc.constant(asks), weight: 4 },
  { arbitrary: nth.map((n) => () => answers(n)), weight: 4 },
  fc.constantFrom(undefined, 'sub').map((subpath) => () => mirrors(subpath)),
  fc
    .constantFrom(undefined, 'sub')
    .map((subpath) => () => ({ kind: 'transcript_deleted', ...(subpath && { subpath }) }) as const),
  fc.constant(() => ({ kind: 'cancel' }) as const),
  fc.constant(() => ({ kind: 'end', outcome: EXITED }) as const),
)

function walk(moves: readonly Move[]): Run {
  const run = new Run(START)
  for (const one of moves) {
    if (typeof one === 'function') run.decide(one(run.state!))
    else if ('driver' in one) run.claim(one.driver)
    else if (run.state!.tools!.open.some(({ id, stage }) => id === idOf(one.decides) && stage.at === 'approval'))
      run.decide({ kind: 'decide_permission', toolCallId: idOf(one.decides), decision: 'approved' })
  }
  return run
}

const fold = (state: ExternalState | null, events: readonly ExternalEvent[]) =>
  events.reduce(external.evolve, state as ExternalState) as ExternalState

describe('a hosted run', () => {
  it('can be folded from every prefix, also from a snapshot and from the residues of its bodies', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const { state, events } = walk(moves)
        let prefix: ExternalState | null = null
        for (const [split, event] of events.entries()) {
          expect(bodyFault(event.type, event.body)).toBeNull()
          prefix = external.evolve(prefix, event)
          const snapshot = JSON.parse(JSON.stringify(prefix)) as ExternalState
          expect(fold(snapshot, events.slice(split + 1))).toStrictEqual(state)
        }
        const left = events.map((event) =>
          external.erasing.says(event.type)
            ? ({ ...event, body: external.erasing.residue(event.type, event.body, event.bodyHash) } as ExternalEvent)
            : event,
        )
        for (const { type, body } of left) expect([type, bodyFault(type, body)]).toEqual([type, null])
        expect(external.digest(fold(null, left))).toBe(external.digest(state!))
      }),
      property(120),
    )
  })

  it('has one intent for each irreversible call, and none for a call that is denied or not approved', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const { events } = walk(moves)
        const begun = new Map<string, number>()
        const approved = new Set<string>()
        const names = new Map<string, string>()
        for (const event of events) {
          const id = event.toolCallId ?? ''
          if (event.type === 'tool_call_requested') names.set(id, event.body.calls[0].toolName)
          if (event.type === 'approval_decided') approved.add(id)
          const isIntent =
            (event.type === 'tool_call_start' && event.body.intent) ||
            event.type === 'tool_call_intent' ||
            event.type === 'tool_call_retry'
          if (!isIntent) continue
          begun.set(id, (begun.get(id) ?? 0) + 1)
          expect(names.get(id)).not.toBe('drop')
          if (names.get(id) === 'pay') expect(approved).toContain(id)
          if (names.get(id) !== 'look') expect(begun.get(id)).toBe(1)
        }
      }),
      property(150),
    )
  })

  it('owes no driver anything, and ends each of its calls when it ends', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const { state, events } = walk(moves)
        expect([owedExternal(state!), external.wakeAt(state!)]).toEqual([[], null])
        if (state!.stage.at !== 'ended') return
        expect([state!.tools!.open, state!.hosted!.open]).toEqual([[], []])
        const count = (type: string) => events.filter((event) => event.type === type).length
        expect(count('tool_call_end')).toBe(count('tool_call_requested'))
        expect(count('model_outcome')).toBe(count('model_requested'))
        expect(count('external_ended')).toBe(1)
      }),
      property(120),
    )
  })

  it('ends at a second cancel if its program never comes back', () => {
    const run = new Run(START)
    run.claim('d1')
    run.decide(callOf('send')(run.state!))
    run.decide({ kind: 'call_begins', toolCallId: idOf(0) })
    run.decide({ kind: 'cancel' })
    expect(run.state!.stage.at).toBe('running')
    run.decide({ kind: 'cancel' })
    expect(run.state!.stage).toEqual({ at: 'ended', outcome: { kind: 'cancelled', exit: null } })
    const end = run.events.find(({ type }) => type === 'tool_call_end')
    expect(end!.body).toMatchObject({ error: { code: 'UNKNOWN_OUTCOME' } })
  })

  it('records nothing of a program that another one has replaced', () => {
    const run = new Run(START)
    run.claim('d1')
    const old = run.driver
    run.claim('d2')
    run.driver = old
    expect(run.decide(asks(run.state!))).toEqual([])
    run.decide(callOf('send')(run.state!))
    const late: ExternalCommand[] = [
      { kind: 'call_begins', toolCallId: idOf(0) },
      { kind: 'call_left', toolCallId: idOf(0) },
      { kind: 'permission', toolCallId: idOf(1), toolName: 'x', input: null, reason: 'r' },
      { kind: 'end', outcome: EXITED },
    ]
    for (const fact of late) expect([fact.kind, run.decide(fact)]).toEqual([fact.kind, []])
  })

  it('rejects a permission that its program gives up, once', () => {
    const run = new Run(START)
    run.claim('d1')
    run.decide({ kind: 'permission', toolCallId: idOf(0), toolName: 'x', input: null, reason: 'r' })
    const left = { kind: 'call_left', toolCallId: idOf(0) } as const
    expect(run.decide(left).map(({ event }) => [event.type, event.actor])).toEqual([
      ['permission_decided', { kind: 'system', id: 'runtime' }],
    ])
    expect(run.state!.permissions.last.map(({ decision }) => decision)).toEqual(['rejected'])
    expect(run.decide(left)).toEqual([])
  })
})

describe('the requests of a run', () => {
  const request: fc.Arbitrary<WholeRequest> = fc.record({
    settings: fc.constant({}),
    tools: fc.constantFrom<Json[]>([], ['t']),
    messages: fc.array(fc.constantFrom<Json>('a', 'b', { c: 1 }), { maxLength: 12 }),
  })

  it('can be read back, each from the one that it continues', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 20 }), (requests) => {
        const book = new RequestBook()
        const whole: WholeRequest[] = []
        for (const [call, one] of requests.entries()) {
          const told = book.shortened(one)
          expect(book.add(call, told)).toBe(true)
          const base = told.after === undefined ? null : whole[told.after.call]!
          const messages = [...(base?.messages.slice(0, told.after?.messages) ?? []), ...told.messages]
          whole.push({ settings: told.settings, tools: told.tools ?? base?.tools ?? [], messages } as WholeRequest)
        }
        expect(whole).toEqual(requests)
      }),
      property(200),
    )
  })

  it('take space in the log in proportion to the conversation', () => {
    const book = new RequestBook()
    const messages: string[] = []
    let told = 0
    for (let call = 0; call < 200; call++) {
      messages.push(`message ${call}`)
      const one = book.shortened({ settings: {}, tools: [], messages: [...messages] })
      book.add(call, one)
      told += one.messages.length
    }
    expect(told).toBe(200)
  })
})
