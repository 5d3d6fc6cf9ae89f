import { expect, test } from 'vitest'
import { digestOf } from '../../domain/agent/state/digest.ts'
import { Decider } from '../support/decider.ts'

// Given a run, when a person puts files back, then the request is recorded before and the outcome after.

const workspace = { path: '/w', tree: 't0' }
const request = { kind: 'restore', tree: 't1', replaces: 't9', step: 3, reason: 'the test was right' } as const
const types = (events: readonly { type: string }[]) => events.map(({ type }) => type)

test('the request is the intent, and its outcome says which files there are now', () => {
  const agent = new Decider({ workspace })
  const before = digestOf(agent.state)
  const [intent, ...none] = agent.take(request)
  expect(none).toEqual([])
  expect(intent).toMatchObject({ type: 'restore_requested', actor: { kind: 'user' }, body: { tree: 't1', step: 3 } })
  const restore = intent!.revision
  expect(agent.state.restoring).toEqual({ since: restore, tree: 't1', replaces: 't9' })
  expect(types(agent.take({ kind: 'restore_ended', restore, outcome: 'restored' }))).toEqual(['restore_ended'])
  expect(agent.state).toMatchObject({ restoring: null, tree: 't1' })
  expect(digestOf({ ...agent.state, revision: 0 })).not.toBe(before)
})

test('a failed one leaves the version of the files as it was', () => {
  const agent = new Decider({ workspace })
  const restore = agent.take(request)[0]!.revision
  agent.take({ kind: 'restore_ended', restore, outcome: 'failed', error: { code: 'CONFLICT', message: 'in the way' } })
  expect(agent.state).toMatchObject({ restoring: null, tree: 't0' })
})

test('an outcome that comes twice, or for another restore, decides nothing', () => {
  const agent = new Decider({ workspace })
  const restore = agent.take(request)[0]!.revision
  expect(agent.take({ kind: 'restore_ended', restore: restore + 7, outcome: 'restored' })).toEqual([])
  agent.take({ kind: 'restore_ended', restore, outcome: 'restored' })
  expect(agent.take({ kind: 'restore_ended', restore, outcome: 'restored' })).toEqual([])
})

test('one whose process was lost is ended by name when the next one begins', () => {
  const agent = new Decider({ workspace })
  agent.take(request)
  const events = agent.take({ ...request, tree: 't2' })
  expect(events.map(({ type, body }) => [type, (body as { outcome?: string }).outcome])).toEqual([
    ['restore_ended', 'interrupted'],
    ['restore_requested', undefined],
  ])
  expect(agent.state.restoring?.tree).toBe('t2')
})

test('the files of a finished run are put back too, and it owes nothing then', () => {
  const agent = new Decider({ workspace })
  agent.take({ kind: 'cancel', deadlineMs: 1 })
  expect(agent.state.machine.status).toBe('ERROR')
  expect(types(agent.take(request))).toEqual(['restore_requested'])
})
