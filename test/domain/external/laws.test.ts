import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { EVENT_KINDS } from '../../../domain/external/agent-event.ts'
import { external } from '../../../domain/external/aggregate.ts'
import { bodyFault } from '../../../domain/external/codec.ts'
import type { ExternalCommand } from '../../../domain/external/commands.ts'
import type { ExternalEvent } from '../../../domain/external/events.ts'
import { owedExternal } from '../../../domain/external/owed.ts'
import type { ExternalState } from '../../../domain/external/state.ts'
import { canonicalHeader } from '../../../domain/log/canonical.ts'
import { FORMAT, type Header } from '../../../domain/log/envelope.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { EXITED, Run, START } from '../../support/external/decider.ts'
import { property } from '../../support/property.ts'

type Move = { driver: string } | { decides: number; decision: 'approved' | 'rejected' } | ExternalCommand
const outcome = fc.constantFrom(
  EXITED,
  { outcome: 'failed', exit: null, error: { code: 'Backend', message: 'it could not be started' } } as const,
  { outcome: 'cancelled', exit: { code: null, signal: 'SIGKILL' } } as const,
  { outcome: 'unknown', reason: 'not seen' } as const,
)
const agentEvent = fc.record(
  {
    kind: fc.constantFrom(...EVENT_KINDS),
    text: fc.string({ unit: 'binary', maxLength: 8 }),
    data: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<never>,
  },
  { requiredKeys: ['kind'] },
)
const move: fc.Arbitrary<Move> = fc.oneof(
  { arbitrary: fc.record({ driver: fc.constantFrom('d1', 'd2', 'd3') }), weight: 2 },
  { arbitrary: fc.constant<Move>({ kind: 'proceed' }), weight: 4 },
  {
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      first: fc.nat(6),
      events: fc.array(agentEvent, { minLength: 1, maxLength: 5 }),
    }),
    weight: 6,
  },
  fc.record({ kind: fc.constant('session' as const), sessionId: fc.constantFrom('s1', 's2') }),
  fc.record({
    kind: fc.constant('usage' as const),
    usage: fc.record({
      scope: fc.constantFrom('run' as const, 'session' as const),
      inputTokens: fc.nat(),
      cachedInputTokens: fc.nat(),
      outputTokens: fc.nat(),
      cost: fc.option(fc.record({ nanoDollars: fc.nat(), scope: fc.constant('run' as const) })),
    }),
  }),
  fc.record({ kind: fc.constant('cancel' as const) }),
  fc.record({
    kind: fc.constant('permission' as const),
    toolCallId: fc.nat(4).map((n) => `x1.t0.c${n}`),
    toolName: fc.constant('edit'),
    input: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<never>,
    reason: fc.string({ maxLength: 4 }),
  }),
  fc.record({ decides: fc.nat(4), decision: fc.constantFrom('approved' as const, 'rejected' as const) }),
  fc.record({
    kind: fc.constant('versioned' as const),
    when: fc.constantFrom('before' as const, 'after' as const),
    tree: fc.constant('t1'),
  }),
  fc.record({ kind: fc.constant('reaped' as const), ended: fc.nat(2) }),
  fc.record({ kind: fc.constant('end' as const), outcome }),
)

function walk(moves: readonly Move[], look: (run: Run) => void = () => undefined): Run {
  const run = new Run(START)
  for (const one of moves) {
    if ('driver' in one) run.claim(one.driver)
    else if ('decides' in one) decideAny(run, one)
    // A batch out of order is a fault of its driver, and none of the stream's.
    else if (one.kind === 'batch') run.decide({ ...one, first: Math.min(one.first, run.state!.events.count) })
    else run.decide(one)
    look(run)
  }
  return run
}

/** A person decides on what waits; a decision that nothing waits for is refused, and changes nothing. */
function decideAny(run: Run, { decides, decision }: { decides: number; decision: 'approved' | 'rejected' }) {
  const toolCallId = `x1.t0.c${decides}`
  const waits = run.state!.permissions.last.some((one) => one.toolCallId === toolCallId && one.decision === null)
  const decide = () => run.decide({ kind: 'decide_permission', toolCallId, decision })
  if (waits) return run.state!.stage.at === 'running' ? decide() : []
  expect(decide).toThrow(expect.objectContaining({ code: 'APPROVAL_NOT_PENDING' }))
  return []
}

const fold = (state: ExternalState | null, events: readonly ExternalEvent[]) =>
  events.reduce(external.evolve, state as ExternalState) as ExternalState

describe('law 1', () => {
  it('a fold can be cut anywhere, and goes on from a snapshot that was written as JSON', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
        const { state, events } = walk(moves)
        let prefix: ExternalState | null = null
        for (const [split, event] of events.entries()) {
          prefix = external.evolve(prefix, event)
          const snapshot = JSON.parse(JSON.stringify(prefix)) as ExternalState
          expect(snapshot).toStrictEqual(prefix)
          expect(external.digest(snapshot)).toBe(external.digest(prefix))
          expect(fold(snapshot, events.slice(split + 1))).toStrictEqual(state)
        }
      }),
      property(80),
    )
  })
})

describe('law 3', () => {
  it('what is decided can be folded, and a finished run owes nothing and is woken by nothing', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
        const { events } = walk(moves, ({ state }) => {
          if (state!.stage.at !== 'ended') return
          expect(owedExternal(state!)).toEqual([])
          expect(external.wakeAt(state!)).toBeNull()
        })
        // A second fold of what was decided refuses nothing either, and a run has one process and one end.
        fold(null, events)
        const count = (type: string) => events.filter((event) => event.type === type).length
        expect(count('process_start')).toBeLessThanOrEqual(1)
        expect(count('external_ended')).toBeLessThanOrEqual(1)
        expect(count('outcome_learned')).toBeLessThanOrEqual(count('external_ended'))
      }),
      property(120),
    )
  })

  it('a process is owed under the epoch of its intent only, and never again under a later one', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
        walk(moves, ({ state }) => {
          const { stage, driver } = state!
          for (const { kind, epoch } of owedExternal(state!)) {
            expect(stage).toMatchObject({ at: 'running', epoch })
            expect(kind).toBe(epoch === driver!.epoch ? 'process' : 'reap')
          }
        })
      }),
      property(80),
    )
  })
})

const headerOf = (event: ExternalEvent, size: number): Header => ({
  format: FORMAT,
  stream: 'external-x1',
  type: event.type,
  version: 1,
  runId: event.runId,
  agentId: event.agentId,
  turn: 0,
  revision: event.revision,
  timestamp: new Date(event.at).toISOString(),
  commandId: event.commandId,
  actor: event.actor,
  ...(event.driver !== undefined && { driver: event.driver }),
  body: { place: 'inline', size, mediaType: 'application/json', hash: event.bodyHash },
})

test('what is sealed is decoded to the event that was folded', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 20 }), (moves) => {
      const run = new Run()
      const drafts = [...run.decide(START)]
      for (const one of moves)
        if ('driver' in one) drafts.push(...run.claim(one.driver))
        else if ('decides' in one) drafts.push(...decideAny(run, one))
        else if (one.kind !== 'batch') drafts.push(...run.decide(one))
      for (const { event, body } of drafts) {
        const header = headerOf(event, body.header.size)
        expect(() => canonicalHeader(header)).not.toThrow()
        expect(external.decode(header, unsalted(body.bytes))).toStrictEqual(event)
      }
    }),
    property(40),
  )
})

test('erasing what was said changes neither the fold nor its digests, and leaves no word', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 25 }), (moves) => {
      const { events, state } = walk([{ kind: 'cancel', reason: 'WORD' } as const, ...moves].slice(moves.length % 2))
      let after: ExternalState | null = null
      for (const event of events) {
        const body = external.erasing.residue(event.type, event.body, event.bodyHash)
        expect(bodyFault(event.type, body)).toBeNull()
        const header = headerOf(event, 2)
        after = external.evolve(after, external.decodeKept(header, { version: 1, body }))
        if (external.erasing.says(event.type))
          expect(JSON.stringify(body)).not.toMatch(/WORD|"text"|"data"|"go"|"done"/)
      }
      expect(external.digest(after!)).toBe(external.digest(state!))
      expect(owedExternal(after!)).toEqual(owedExternal(state!))
      expect(external.wakeAt(after!)).toBe(external.wakeAt(state!))
    }),
    property(60),
  )
})

test('a decoder stops at what a newer program wrote, and at what is no JSON', () => {
  const [draft] = new Run().decide(START)
  const { event, body } = draft!
  const header = headerOf(event, body.header.size)
  const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))
  const code = (change: Partial<Header>, of = unsalted(body.bytes)) => {
    try {
      external.decode({ ...header, ...change }, of)
      return 'none'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  expect(code({})).toBe('none')
  expect(code({ type: 'agent_started' })).toBe('UNKNOWN_EVENT')
  expect(code({ version: 2 })).toBe('UNKNOWN_EVENT')
  expect(code({ format: 2 as 1 })).toBe('LOG_NEWER')
  expect(code({ minReader: 2 })).toBe('LOG_NEWER')
  const claim = { driverId: 'd1', epoch: 1, minReader: 2, keepup: '9.0.0' }
  expect(code({ type: 'driver_claimed' }, bytes(claim))).toBe('LOG_NEWER')
  expect(code({}, Buffer.from('{'))).toBe('LOG_CORRUPT')
})

test('the digest covers all that the fold keeps but the text of the request', () => {
  const { state } = walk([{ driver: 'd1' }, { kind: 'proceed' }])
  const digest = external.digest(state!)
  const others: Partial<ExternalState>[] = [
    { cancelledAt: 5 },
    { sessionId: 's' },
    { requestHash: '0' },
    { events: { count: 1, hash: '1'.repeat(64) } },
    { stage: { at: 'requested' } },
  ]
  for (const other of others) expect(external.digest({ ...state!, ...other })).not.toBe(digest)
  expect(external.digest({ ...state!, request: { prompt: 'other' } })).toBe(digest)
})
