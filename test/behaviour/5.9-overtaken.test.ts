import { describe, expect, test } from 'vitest'
import { callsOf } from '../../domain/agent/state/state.ts'
import { Decider } from '../support/decider.ts'
import { tool } from '../support/story.ts'

const workspace = { path: '/w', tree: 't0' }
const types = (events: readonly { type: string }[]) => events.map(({ type }) => type)

describe('a driver that has lost the agent tells nothing of its files', () => {
  test('what drifted it does not know: the next one may have written it', () => {
    const agent = new Decider({ workspace })
    const [old, next] = [agent.claim('a'), agent.claim('b')]
    const drift = { kind: 'drift_found', expected: 't0', found: 'half-written', changed: ['x'] } as const
    expect(agent.take(drift, old)).toEqual([])
    expect(agent.state.tree).toBe('t0')
    expect(types(agent.take(drift, next))).toContain('workspace_drifted')
  })

  test('nor a version of them', () => {
    const put = tool('put', { effect: 'idempotent' })
    const agent = new Decider({ workspace }, [put])
    const old = agent.claim('a')
    agent.take({ kind: 'proceed' }, old)
    agent.answers(old, ['put', {}])
    agent.succeeds(old, 'put')
    const { from: step } = agent.state.unversioned!
    const next = agent.claim('b')
    const version = { kind: 'versioned', step, version: { tree: 't1' } } as const
    expect(agent.take(version, old)).toEqual([])
    expect([agent.state.tree, agent.state.unversioned]).toEqual(['t0', { from: step, to: step }])
    expect(types(agent.take(version, next))).toContain('workspace_versioned')
    expect([agent.state.tree, agent.state.unversioned]).toEqual(['t1', null])
  })
})

test('what touches nothing outside the log is never in doubt, however many drivers are lost with it', () => {
  const agent = new Decider({})
  let driver = agent.claim('d0')
  agent.take({ kind: 'proceed' }, driver)
  agent.answers(driver, ['complete_task', { summary: 'done' }])
  for (let n = 1; n <= 8; n++) {
    driver = agent.claim(`d${n}`)
    expect(types(agent.take({ kind: 'proceed' }, driver))).toEqual(['tool_call_retry'])
  }
  const [call] = callsOf(agent.state)
  expect(call).toMatchObject({ lost: 8, attempt: 9, stage: { at: 'running' } })
  agent.succeeds(driver, 'complete_task', { attempt: 9, detail: { summary: 'done' } })
  expect(agent.state.machine).toEqual({ status: 'DONE' })
})

test('another tool that takes its drivers with it is left to a person in the end', () => {
  const agent = new Decider({}, [tool('look')])
  agent.take({ kind: 'proceed' }, agent.claim('d0'))
  agent.answers(agent.state.driver!, ['look', {}])
  const after = Array.from({ length: 6 }, (_, n) => types(agent.take({ kind: 'proceed' }, agent.claim(`d${n + 1}`))))
  expect(after.flat()).toEqual([...Array(5).fill('tool_call_retry'), 'tool_call_unknown'])
})
