import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dueBefore, nextDue } from '../../../projections/queries/due.ts'
import { runs, tape } from '../../support/projections/fc.ts'
import { projected, type TablesKit } from '../../support/projections/kit.ts'
import { owes } from '../../support/projections/owes.ts'
import { HASH } from '../../support/projections/spec.ts'
import type { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'
import { T0, told } from '../../support/projections/told.ts'
import { undrivenContract } from './undriven.ts'

const start = (a: Actor, intent: boolean) =>
  a.write(
    'tool_call_start',
    {
      toolName: 'run_command',
      index: 0,
      argumentsRef: { revision: 0, block: 0 },
      argumentsHash: HASH,
      attempt: 1,
      effect: 'pure',
      intent,
    },
    { toolCallId: 'a.t1.c0' },
  )
const asks = (a: Actor) => {
  a.user('user_input', { text: 'go' })
  a.beginTurn()
  a.answer(['run_command'])
  start(a, false)
  a.write('approval_requested', approval(a), { toolCallId: 'a.t1.c0' })
}
const approval = (a: Actor) => ({
  toolName: 'run_command',
  argumentsRef: a.given(0),
  argumentsHash: HASH,
  expiresAt: new Date(T0 + 9000).toISOString(),
  reason: 'policy',
})

export function dueContract(kit: TablesKit): void {
  describe('who must be woken', () => {
    it('of many who drive: only what was started to be driven, whoever has claimed or resumed it since', async () => {
      const going = (a: Actor) => {
        a.user('user_input', { text: 'go' })
        a.user('resumed', {})
        a.write('driver_claimed', { driverId: 'd', epoch: 1, minReader: 1, build: 'b' })
      }
      const own = await told(kit, going, (actor) => actor.start(undefined, false))
      expect(await dueBefore(own.db, own.last)).toHaveLength(1)
      expect(await dueBefore(own.db, own.last, { asked: true })).toEqual([])
      const asked = await told(kit, going)
      expect(await dueBefore(asked.db, asked.last, { asked: true })).toHaveLength(1)
    })

    it.each<[string, (a: Actor) => void, { reason: string; after?: number; at?: number } | null]>([
      ['a birth without a task owes nothing', () => {}, null],
      ['an input owes a turn', (a) => a.user('user_input', { text: 'go' }), { reason: 'start', after: 0 }],
      ['a model call in flight', (a) => a.beginTurn(), { reason: 'drive', after: 0 }],
      ['an approval expires', asks, { reason: 'approval', at: T0 + 9000 }],
      [
        'a claim while an approval waits changes nothing',
        (a) => {
          asks(a)
          a.write('driver_claimed', { driverId: 'd', epoch: 2, minReader: 1, build: 'b' })
        },
        { reason: 'approval', at: T0 + 9000 },
      ],
      [
        'a decision is acted upon',
        (a) => {
          asks(a)
          a.user('approval_decided', { decision: 'approved', argumentsHash: HASH }, { toolCallId: 'a.t1.c0' })
        },
        { reason: 'start', after: 0 },
      ],
      [
        'a retry waits its delay',
        (a) => {
          asks(a)
          const error = { code: 'TIMEOUT', message: 'slow' }
          a.write('tool_call_retry', { attempt: 2, error, delayMs: 700 }, { toolCallId: 'a.t1.c0' })
        },
        { reason: 'retry', after: 700 },
      ],
      [
        'a failed model attempt waits its delay',
        (a) => {
          a.beginTurn()
          a.write('error', { error: 'x', code: 'OVERLOADED', recoverable: true, attempt: 1, delayMs: 400 })
        },
        { reason: 'retry', after: 400 },
      ],
      [
        'a result owes a judgement',
        (a) => {
          a.beginTurn()
          a.answer(['read_file'])
          a.endCall('a.t1.c0', 'read_file')
        },
        { reason: 'drive', after: 0 },
      ],
      [
        'a lost model attempt owes another',
        (a) => {
          a.beginTurn()
          const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
          a.write('model_attempt_lost', { attempt: 1, purpose: 'turn', usage, nanoDollars: null })
        },
        { reason: 'start', after: 0 },
      ],
      [
        'an answer without calls owes its turn’s end',
        (a) => {
          a.beginTurn()
          a.answer([])
        },
        { reason: 'drive', after: 0 },
      ],
      [
        'an ended turn owes the next',
        (a) => {
          a.beginTurn()
          a.answer([])
          a.endTurn('text')
        },
        { reason: 'turn', after: 0 },
      ],
      [
        'a doubt waits for a person',
        (a) => {
          asks(a)
          a.write('tool_call_unknown', { attempt: 1, reason: 'died' }, { toolCallId: 'a.t1.c0' })
        },
        null,
      ],
      [
        'a question waits for input',
        (a) => {
          a.beginTurn()
          a.answer(['ask_user'])
          a.endCall('a.t1.c0', 'ask_user')
          a.endTurn()
        },
        null,
      ],
      [
        'an answer to a question owes a turn',
        (a) => {
          a.beginTurn()
          a.answer(['ask_user'])
          a.endCall('a.t1.c0', 'ask_user')
          a.endTurn()
          a.user('user_input', { text: 'yes' })
        },
        { reason: 'start', after: 0 },
      ],
      [
        'a question with input unread goes on',
        (a) => {
          a.beginTurn()
          a.user('user_input', { text: 'by the way' })
          a.answer(['ask_user'])
          a.endCall('a.t1.c0', 'ask_user')
          a.endTurn()
        },
        { reason: 'turn', after: 0 },
      ],
      [
        'a pause starts nothing',
        (a) => {
          a.beginTurn()
          a.answer(['read_file'])
          a.user('paused', {})
        },
        null,
      ],
      [
        'a pause lets what runs finish',
        (a) => {
          a.beginTurn()
          a.user('paused', {})
        },
        { reason: 'drive', after: -1 },
      ],
      [
        'a step goes on in a pause, to the end of its turn',
        (a) => {
          a.user('paused', {})
          a.user('step_requested', {})
          a.beginTurn()
          a.answer(['read_file'])
        },
        { reason: 'start', after: 0 },
      ],
      [
        'a step of a run that was not paused pauses it',
        (a) => {
          a.user('step_requested', {})
          a.beginTurn()
          a.answer([])
          a.endTurn('text')
        },
        null,
      ],
      [
        'what ended, and what stands behind a call that waits for an approval, owe nothing yet',
        (a) => {
          a.beginTurn()
          a.answer(['write_file', 'write_file', 'write_file'], { writes: ['a.txt'] })
          start(a, false)
          a.write('approval_requested', approval(a), { toolCallId: 'a.t1.c0' })
          a.endCall('a.t1.c2', 'write_file')
        },
        { reason: 'approval', at: T0 + 9000 },
      ],
      [
        'and no further',
        (a) => {
          a.user('paused', {})
          a.user('step_requested', {})
          a.beginTurn()
          a.answer([])
          a.endTurn('text')
        },
        null,
      ],
      [
        'a cancel is heard in a pause',
        (a) => {
          a.user('paused', {})
          a.user('cancel_requested', { deadlineMs: 100 })
          a.user('user_input', { text: 'x' })
        },
        { reason: 'cancel', after: -1 },
      ],
      [
        'a finished agent is never woken',
        (a) => {
          a.beginTurn()
          a.finish('error')
          const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
          a.write('model_attempt_lost', { attempt: 2, purpose: 'turn', usage, nanoDollars: null })
        },
        null,
      ],
    ])('%s', async (_, write, expected) => {
      const { db, last } = await told(kit, write)
      if (expected === null) return expect(await dueBefore(db, null)).toEqual([])
      const wakeAt = expected.at ?? last + expected.after!
      expect(await dueBefore(db, wakeAt)).toEqual([{ agentId: 'a', runId: 'a', wakeAt, reason: expected.reason }])
      expect(await dueBefore(db, wakeAt - 1)).toEqual([])
      expect(await nextDue(db, wakeAt - 1)).toBe(wakeAt)
    })

    it('of what is to be cancelled that is the reason, whatever was owed before it', async () => {
      const { db, last } = await told(kit, (a) => {
        a.user('user_input', { text: 'go' })
        a.beginTurn()
        a.user('cancel_requested', { deadlineMs: 100 })
      })
      const [due] = await dueBefore(db, last)
      expect(due?.wakeAt).toBeLessThan(last)
      expect(due?.reason).toBe('cancel')
    })

    it('a row may be stale, none is missing (law)', async () => {
      await fc.assert(
        fc.asyncProperty(tape, async (numbers) => {
          const { log, actors } = tell(numbers)
          const tables = await kit.fresh()
          await projected(log, tables)
          const due = new Set((await dueBefore(tables.db, null)).map(({ agentId }) => agentId))
          const rows = new Map((await tables.dump()).agents!.map((row) => [row.id, row]))
          for (const actor of actors) {
            const row = rows.get(actor.id)!
            if (actor.finished) expect(due, actor.id).not.toContain(actor.id)
            else if (owes(actor, row.paused === 1 && row.stepping === 0, row)) expect(due, actor.id).toContain(actor.id)
          }
        }),
        runs(kit.cases(25)),
      )
    })
  })

  undrivenContract(kit)
}
