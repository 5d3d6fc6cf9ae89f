import { describe, expect, it } from 'vitest'
import { dueBefore, nextDue } from '../../../projections/engine/queries/due.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import { oneAgent, T0 } from '../../support/projections/one-agent.ts'
import { HASH } from '../../support/projections/spec.ts'
import type { Actor } from '../../support/projections/story.ts'

const WAKE = T0 + 9000
const input = (a: Actor, wakeAt?: number | null) =>
  a.user('user_input', { text: 'go' }, wakeAt === undefined ? NOT_LAST : { wakeAt })
/** The header of an event that is not the last of its append. */
const NOT_LAST = { wakeAt: undefined as unknown as null }
const claimed = { driverId: 'd', epoch: 1, minReader: 1, keepup: 'b' }

export function dueContract(kit: TablesKit): void {
  describe('the agents to drive', () => {
    const owed = { agentId: 'a', runId: 'a', wakeAt: WAKE, reason: 'owed' }

    it('an agent is due at the wake time of its last append, and not before', async () => {
      const { db } = await oneAgent(kit, (a) => input(a, WAKE))
      expect(await dueBefore(db, WAKE)).toEqual([owed])
      expect(await dueBefore(db, WAKE - 1)).toEqual([])
      expect(await nextDue(db, WAKE - 1)).toBe(WAKE)
      expect(await nextDue(db, WAKE)).toBeNull()
    })

    it('an agent that needs its driver at the time of its append is due by any clock', async () => {
      let at = 0
      const { db } = await oneAgent(kit, (a) => {
        at = Date.parse(input(a, T0).header.timestamp)
      })
      expect(await dueBefore(db, at - 7_200_000)).toEqual([{ ...owed, wakeAt: T0 }])
      expect(await nextDue(db, at - 7_200_000)).toBeNull()
    })

    it('a later wake time replaces the earlier one', async () => {
      const { db } = await oneAgent(kit, (a) => {
        input(a, WAKE + 5)
        input(a, WAKE)
      })
      expect(await dueBefore(db, null)).toEqual([owed])
    })

    it('an event within an append changes no wake time', async () => {
      const { db } = await oneAgent(kit, (a) => {
        input(a, WAKE)
        input(a)
      })
      expect(await dueBefore(db, null)).toEqual([owed])
    })

    it('an append without a wake time ends the one before', async () => {
      const { db } = await oneAgent(kit, (a) => {
        input(a, WAKE)
        input(a, null)
      })
      expect(await dueBefore(db, null)).toEqual([])
    })

    it('a finished agent is due only as long as it owes something to other agents', async () => {
      for (const [wakeAt, due] of [
        [WAKE, [owed]],
        [null, []],
      ] as const) {
        const { db } = await oneAgent(kit, (a) => {
          a.beginTurn()
          a.finish('error')
          input(a, wakeAt)
        })
        expect(await dueBefore(db, null)).toEqual(due)
      }
    })

    it('the reason of an agent that is being cancelled is cancel', async () => {
      const { db } = await oneAgent(kit, (a) => {
        a.user('cancel_requested', { deadlineMs: 100 })
        input(a, null)
        input(a, WAKE)
      })
      expect(await dueBefore(db, null)).toEqual([{ ...owed, reason: 'cancel' }])
    })

    it('a parked agent is due until it is released', async () => {
      const { db, log, actor, projector } = await oneAgent(kit, (a) => {
        a.user('cancel_requested', { deadlineMs: 100 })
        input(a, WAKE)
      })
      const damaged = log.damage('agent-a')
      await projector.catchUp()
      expect(await dueBefore(db, null)).toEqual([{ ...owed, wakeAt: Date.parse(damaged.at), reason: 'parked' }])
      log.damaged.length = 0
      input(actor, WAKE)
      await projector.catchUp()
      expect(await projector.release('agent-a')).toBe(true)
      expect(await dueBefore(db, null)).toEqual([{ ...owed, reason: 'cancel' }])
    })

    it('an agent that is parked at its first event is due', async () => {
      const { db } = await oneAgent(
        kit,
        () => {},
        (a) => void a.write('unheard_of', {}),
      )
      expect(await dueBefore(db, null)).toMatchObject([{ agentId: 'a', reason: 'parked' }])
    })
  })

  describe('a run that was not asked to be driven', () => {
    const births = ['agent_started', 'forked'] as const
    const undriven = (birth: (typeof births)[number], then: (a: Actor) => void) =>
      oneAgent(
        kit,
        (a) => {
          then(a)
          input(a, WAKE)
        },
        (a) => void (birth === 'agent_started' ? a.start(undefined, false) : a.user('forked', FORKED)),
      )

    it.each(births)('is not due (%s)', async (birth) => {
      const { db } = await undriven(birth, () => {})
      expect([await dueBefore(db, null), await nextDue(db, 0)]).toEqual([[], null])
    })

    it.each<[string, (a: Actor) => void]>([
      ['a driver has claimed it', (a) => a.write('driver_claimed', claimed)],
      ['it was resumed', (a) => a.user('resumed', {})],
      ['a step was asked for', (a) => a.user('step_requested', {})],
      ['it is being cancelled', (a) => a.user('cancel_requested', { deadlineMs: 1 })],
    ])('is due once %s', async (_, then) => {
      for (const birth of births) {
        const { db } = await undriven(birth, then)
        expect((await dueBefore(db, null)).map(({ agentId }) => agentId)).toEqual(['a'])
      }
    })

    it('is not due to any driver there is, even after a claim', async () => {
      const claims = (a: Actor) => a.write('driver_claimed', claimed)
      const { db: own } = await undriven('agent_started', claims)
      expect(await dueBefore(own, null, { driveRequested: true })).toEqual([])
      expect(await nextDue(own, 0, { driveRequested: true })).toBeNull()
      const { db: requested } = await oneAgent(kit, (a) => input(a, WAKE))
      expect(await dueBefore(requested, null, { driveRequested: true })).toHaveLength(1)
      expect(await nextDue(requested, 0, { driveRequested: true })).toBe(WAKE)
    })
  })
}

const FORKED = {
  stream: 'agent-b',
  revision: 1,
  hash: HASH,
  digest: { fold: 1, value: HASH },
  step: 0,
  workspace: null,
  changes: {},
}
