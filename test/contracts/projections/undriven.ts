import { describe, expect, it } from 'vitest'
import { dueBefore, nextDue } from '../../../projections/queries/due.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import { HASH } from '../../support/projections/spec.ts'
import type { Actor } from '../../support/projections/story.ts'
import { told } from '../../support/projections/told.ts'

export function undrivenContract(kit: TablesKit): void {
  describe('a run that nobody has asked to be driven', () => {
    const held = (asked: 'agent_started' | 'forked', then: (a: Actor) => void) =>
      told(
        kit,
        (a) => {
          a.user('user_input', { text: 'go' })
          then(a)
        },
        (a) => void (asked === 'agent_started' ? a.start(undefined, false) : a.user('forked', FORKED)),
      )
    const due = async ({ db, last }: Awaited<ReturnType<typeof told>>) => [
      (await dueBefore(db, last)).map(({ agentId }) => agentId),
      await nextDue(db, 0),
    ]

    it.each(['agent_started', 'forked'] as const)('is left alone (%s)', async (birth) => {
      expect(await due(await held(birth, () => {}))).toEqual([[], null])
    })

    it.each<[string, (a: Actor) => void]>([
      ['a driver has held it', (a) => a.write('driver_claimed', { driverId: 'd', epoch: 1, minReader: 1, build: 'b' })],
      ['it was resumed', (a) => a.user('resumed', {})],
      ['a step was asked for', (a) => a.user('step_requested', {})],
      ['it is to be cancelled', (a) => a.user('cancel_requested', { deadlineMs: 1 })],
    ])('is due once %s', async (_, then) => {
      for (const birth of ['agent_started', 'forked'] as const) {
        expect((await due(await held(birth, then)))[0]).toEqual(['a'])
      }
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
