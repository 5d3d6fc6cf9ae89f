import { describe, expect, it } from 'vitest'
import { waitingOf } from '../../../projections/queries/waiting.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import { oneAgent } from '../../support/projections/one-agent.ts'
import type { Actor } from '../../support/projections/story.ts'

const fails = (outage: boolean) => (a: Actor) => {
  const error = { error: 'x', code: 'OVERLOADED', recoverable: true, attempt: a.attempt++, delayMs: 400 }
  a.write('error', outage ? { ...error, outage: true } : error)
}
const lost = (a: Actor) => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
  a.write('model_attempt_lost', { attempt: a.attempt++, purpose: 'turn', usage, nanoDollars: null })
}
const tries = (a: Actor) => a.callModel()
const answers = (a: Actor) => a.answer([])

/** The reasons that involve people are compared with the domain's by the law of the state. */
export function waitingContract(kit: TablesKit): void {
  describe('an agent whose models have all failed', () => {
    it.each<[string, readonly ((a: Actor) => void)[], boolean]>([
      ['waits for them', [fails(true)], true],
      ['does not wait after a failure that is no outage', [fails(false)], false],
      ['does not wait while a model is called', [fails(true), tries], false],
      ['waits again after a lost attempt', [fails(true), tries, lost], true],
      ['does not wait after an answer', [fails(true), tries, answers], false],
      ['does not wait in recovery', [fails(true), (a) => a.write('recovery', WARNING)], false],
      [
        'does not wait while it is cancelled',
        [fails(true), (a) => a.user('cancel_requested', { deadlineMs: 1 })],
        false,
      ],
    ])('%s', async (_, steps, waits) => {
      const { db } = await oneAgent(kit, (a) => {
        a.user('user_input', { text: 'go' })
        a.beginTurn()
        for (const step of steps) step(a)
      })
      const found = (await waitingOf(db, ['a'])).get('a') ?? []
      expect(found).toEqual(waits ? [{ agentId: 'a', for: 'model', toolCallId: null }] : [])
    })
  })
}

const WARNING = {
  phase: 'final_warning',
  reason: 'turns',
  maxTurns: 9,
  graceTurns: 2,
  deadlineMs: 60_000,
  warning: 'Now',
}
