import { describe, expect, it } from 'vitest'
import { toolCallId } from '../../../domain/log/ids.ts'
import { listQuestions } from '../../../projections/agent/queries/asks.ts'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import { waitingOf } from '../../../projections/agent/queries/waiting.ts'
import { delegate } from '../../support/projections/kinship.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import { oneAgent } from '../../support/projections/one-agent.ts'
import { type Actor, Tape } from '../../support/projections/story.ts'

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

/** A parent whose child waits to be told something, and what each list says of it. */
async function family(kit: TablesKit, after: (parent: Actor) => void) {
  const { db } = await oneAgent(kit, (parent) => {
    parent.user('user_input', { text: 'go' })
    parent.beginTurn()
    parent.answer(['delegate_to_agent'])
    delegate(parent, 'b', new Tape([1]))
    const child = parent.beside('b')
    child.start({ agentId: 'a', toolCallId: toolCallId('a', 1, 0) })
    child.beginTurn()
    child.answer(['ask_user'])
    child.endCall(toolCallId('b', 1, 0), 'ask_user')
    child.endTurn()
    after(parent)
  })
  const waiting = (await waitingOf(db, ['a'])).get('a') ?? []
  const questions = await listQuestions(db, 'a')
  const { runs } = await selectRuns(db, { waiting: ['input'] })
  return [waiting, questions, runs].map(({ length }) => length)
}

/** The reasons that involve people are compared with the domain's by the law of the state. */
export function waitingContract(kit: TablesKit): void {
  describe('the question of a child', () => {
    it('is asked of people until its parent goes on without it', async () => {
      expect(await family(kit, () => {})).toEqual([1, 1, 1])
      const leave = (parent: Actor) =>
        parent.write('child_unreached', { childId: 'b', reason: 'it did not end in time' })
      expect(await family(kit, leave)).toEqual([0, 0, 0])
    })
  })

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
