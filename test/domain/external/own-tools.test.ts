import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { approvalHash } from '../../../domain/calls/question-hash.ts'
import { external } from '../../../domain/external/aggregate.ts'
import { bodyFault } from '../../../domain/external/codec.ts'
import type { ExternalCommand } from '../../../domain/external/commands.ts'
import type { ExternalState } from '../../../domain/external/state.ts'
import { BORN, ENDS, GO_ON, ReachingRun } from '../../support/external/reaching-run.ts'
import { property } from '../../support/property.ts'

// Calls of keepup's own tools by another agent, decided by the run's stream (CONTRACTS 3, 5, 8 and 13).

const outcome = (run: ReachingRun, index: number, more: object, attempt = 1) =>
  run.decide({ toolCallId: run.id(index), toolName: 'x', attempt, durationMs: 1, ...more } as ExternalCommand)
const OK = { kind: 'tool_succeeded', result: { content: 'ok' } }
const BUSY = { code: 'NETWORK', message: 'busy', transient: true, beforeEffect: false }

describe('given a run that reaches tools of keepup’s', () => {
  it('when it calls one, then the intent is recorded, and then the outcome', () => {
    const run = new ReachingRun()
    run.ask('send')
    run.decide(GO_ON)
    outcome(run, 0, OK)
    expect(run.ofCalls()).toEqual(['tool_call_requested', 'tool_call_start', 'tool_call_end'])
    expect([run.ends(), run.open, run.state!.tools!.step]).toEqual([[true], [], 1])
  })

  it('when it calls what it does not reach, then the call is refused and recorded', () => {
    const run = new ReachingRun()
    run.ask('drop')
    run.decide(GO_ON)
    expect(run.ends()).toEqual(['RESOURCE_NOT_FOUND'])
    expect(run.events.some((event) => event.type === 'tool_call_start' && event.body.intent)).toBe(false)
  })

  it('when a policy asks for leave, then nothing is begun before a person has given it', () => {
    const run = new ReachingRun()
    run.ask('ask')
    run.decide(GO_ON)
    expect(run.ofCalls()).toEqual(['tool_call_requested', 'tool_call_start', 'approval_requested'])
    const [call = expect.fail()] = run.open
    const questionHash = approvalHash(call, call.stage.at === 'approval' ? call.stage.expiresAt : Number.NaN, [])
    const decide = { kind: 'decide_permission', toolCallId: run.id(0), decision: 'approved' } as const
    const wrong = () => run.decide({ ...decide, questionHash: 'f'.repeat(64) })
    expect(wrong).toThrow(expect.objectContaining({ code: 'QUESTION_CHANGED' }))
    run.decide({ ...decide, questionHash })
    run.decide(GO_ON)
    expect(run.ofCalls().slice(3)).toEqual(['approval_decided', 'tool_call_intent'])
    const again = () => run.decide({ ...decide, questionHash })
    expect(again).toThrow(expect.objectContaining({ code: 'APPROVAL_NOT_PENDING' }))
  })

  it('when no person decides in time, then the call ends, and is not begun', () => {
    const run = new ReachingRun()
    run.ask('ask')
    run.decide(GO_ON)
    run.now += 86_400_000
    run.decide(GO_ON)
    expect([run.ofCalls().slice(3), run.ends()]).toEqual([['approval_expired', 'tool_call_end'], ['APPROVAL_EXPIRED']])
  })

  it('when its parent is paused, then nothing is begun', () => {
    const run = new ReachingRun()
    run.ask('send')
    run.decide({ kind: 'calls_go_on', paused: true })
    expect(run.ofCalls()).toEqual(['tool_call_requested'])
    run.decide(GO_ON)
    expect(run.ofCalls()).toEqual(['tool_call_requested', 'tool_call_start'])
  })

  it('when it was cancelled, then nothing is begun', () => {
    const run = new ReachingRun()
    run.ask('send')
    run.decide({ kind: 'cancel' })
    run.decide(GO_ON)
    expect([run.ends(), run.ofCalls()]).toEqual([
      ['CANCELLED'],
      ['tool_call_requested', 'tool_call_start', 'tool_call_end'],
    ])
    expect(run.events.some((event) => event.type === 'tool_call_start' && event.body.intent)).toBe(false)
  })

  it('when it is unknown whether a call happened, then it ends so at once, and no person is asked', () => {
    const run = new ReachingRun()
    run.ask('send')
    run.decide(GO_ON)
    outcome(run, 0, { kind: 'tool_in_doubt', reason: 'the line went dead' })
    expect([run.ofCalls().slice(2), run.ends()]).toEqual([['tool_call_unknown', 'tool_call_end'], ['UNKNOWN_OUTCOME']])
  })

  it('when a tool has changed since, then nothing is done', () => {
    const run = new ReachingRun()
    run.ask('look')
    run.decide(GO_ON)
    outcome(run, 0, { kind: 'tool_changed', tool: {}, fits: true, reason: 'it takes other arguments' })
    expect(run.ends()).toEqual(['CONFLICT'])
  })

  it('when a failure passes, then what may be repeated is tried again, and the rest is not', () => {
    const run = new ReachingRun()
    run.ask('tidy')
    run.decide(GO_ON)
    outcome(run, 0, { kind: 'tool_failed', error: BUSY })
    expect([run.ofCalls().at(-1), run.open[0]?.attempt]).toEqual(['tool_call_retry', 2])
    outcome(run, 0, OK, 2)
    run.ask('send')
    run.decide(GO_ON)
    outcome(run, 1, { kind: 'tool_failed', error: BUSY })
    expect(run.ends()).toEqual([true, 'NETWORK'])
  })

  it('when the program that ran it is gone, then what had begun is unknown, and nothing is begun again', () => {
    const run = new ReachingRun()
    for (const name of ['look', 'ask', 'send']) run.ask(name)
    run.decide(GO_ON)
    outcome(run, 0, OK)
    run.decide(GO_ON)
    const [, , third] = ['', '', run.open.find(({ id }) => id === run.id(2))?.stage.at]
    run.claim('d2')
    run.decide({ kind: 'reaped', ended: 1 })
    expect(third).toBe('planned')
    expect([run.ends(), run.state!.stage.at]).toEqual([[true, 'CANCELLED', 'CANCELLED'], 'ended'])
    const other = new ReachingRun()
    other.ask('send')
    other.decide(GO_ON)
    other.claim('d2')
    other.decide({ kind: 'reaped', ended: 1 })
    outcome(other, 0, OK)
    expect(other.ends()).toEqual(['UNKNOWN_OUTCOME'])
  })
})

const TOOLS = ['look', 'tidy', 'send', 'ask', 'other'] as const
type Move = (run: ReachingRun) => unknown
/** What becomes of the first call at work, if one is. */
const working =
  (more: object): Move =>
  (run) => {
    const call = run.open.find(({ stage }) => stage.at === 'running')
    return call && outcome(run, call.index, more, call.attempt)
  }
const deciding =
  (decision: 'approved' | 'rejected'): Move =>
  (run) => {
    const waits = run.open.find(({ stage }) => stage.at === 'approval')
    return waits && run.decide({ kind: 'decide_permission', toolCallId: waits.id, decision, reason: 'WORD' })
  }
const asking =
  (name: string): Move =>
  (run) =>
    run.state!.stage.at === 'running' && run.ask(name, { to: 'WORD' })
const weighted = (weight: number, ...moves: readonly Move[]) => ({ arbitrary: fc.constantFrom(...moves), weight })
const move: fc.Arbitrary<Move> = fc.oneof(
  weighted(5, ...TOOLS.map(asking)),
  weighted(5, (run) => run.decide(GO_ON)),
  weighted(1, (run) => run.decide({ kind: 'calls_go_on', paused: true })),
  weighted(3, working({ ...OK, result: { content: 'WORD' } })),
  weighted(3, working({ kind: 'tool_failed', error: { ...BUSY, message: 'WORD' } })),
  weighted(1, working({ kind: 'tool_in_doubt', reason: 'WORD' })),
  weighted(3, deciding('approved'), deciding('rejected')),
  weighted(1, (run) => run.open.length > 0 && run.decide({ kind: 'call_left', toolCallId: run.open.at(-1)!.id })),
  weighted(
    1,
    (run) => run.decide({ kind: 'cancel', reason: 'WORD' }),
    (run) => run.claim('d2'),
    (run) => run.decide({ kind: 'reaped', ended: 1 }),
    (run) => run.decide(ENDS),
  ),
)
const moves = fc.array(move, { minLength: 5, maxLength: 30 })

function walk(moves: readonly Move[]): ReachingRun {
  const run = new ReachingRun()
  for (const one of moves) one(run)
  return run
}

describe('laws of calls from outside', () => {
  it('law 1: a fold can be cut anywhere, and goes on from a snapshot that was written as JSON', () => {
    fc.assert(
      fc.property(moves, (made) => {
        const { events, state } = walk(made)
        let prefix: ExternalState | null = null
        for (const event of events) {
          const snapshot: ExternalState | null = JSON.parse(JSON.stringify(prefix))
          expect(snapshot).toStrictEqual(prefix)
          prefix = external.evolve(snapshot, event)
        }
        expect(external.digest(prefix!)).toBe(external.digest(state!))
      }),
      property(60),
    )
  })

  it('each call has one start and one end, an irreversible one begins once, and none is open behind the end', () => {
    fc.assert(
      fc.property(moves, (made) => {
        const run = walk([...made, (one) => one.claim('d3'), (one) => one.decide({ kind: 'reaped', ended: 0 })])
        const of = (type: string, id: string) =>
          run.events.filter((event) => event.type === type && event.toolCallId === id)
        expect([run.open, run.state!.stage.at]).toEqual([[], 'ended'])
        for (const event of run.events) {
          if (event.type !== 'tool_call_requested') continue
          const { toolCallId: id = '', body } = event
          const begun = run.events.filter(
            ({ type, toolCallId, body: one }) =>
              toolCallId === id &&
              (type === 'tool_call_intent' ||
                type === 'tool_call_retry' ||
                (type === 'tool_call_start' && (one as { intent: boolean }).intent)),
          )
          expect([of('tool_call_start', id).length, of('tool_call_end', id).length]).toEqual([1, 1])
          if (body.calls[0].effect === 'irreversible') expect(begun.length).toBeLessThanOrEqual(1)
        }
      }),
      property(120),
    )
  })

  it('erasing what was said changes neither the fold nor its digests, and leaves no word', () => {
    fc.assert(
      fc.property(moves, (made) => {
        const { events, state } = walk(made)
        let after: ExternalState | null = null
        for (const event of events) {
          const body = external.erasing.residue(event.type, event.body, event.bodyHash)
          expect([bodyFault(event.type, body), JSON.stringify(body)]).toEqual([
            null,
            expect.not.stringContaining('WORD'),
          ])
          after = external.evolve(after, { ...event, body } as typeof event)
        }
        expect(external.digest(after!)).toBe(external.digest(state!))
      }),
      property(60),
    )
  })
})

it('a run that was born without tools takes no call', () => {
  const { backend, ...born } = BORN
  const { tools: _, ...without } = backend!
  const run = new ReachingRun({ ...born, backend: without })
  expect(run.state!.tools).toBeUndefined()
  expect(run.decide({ kind: 'call', index: 0, name: 'look', arguments: {}, paths: {} })).toEqual([])
})
