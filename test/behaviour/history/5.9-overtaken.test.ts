import { describe, expect, test } from 'vitest'
import { callsOf, isFinished } from '../../../domain/agent/state/state.ts'
import { Decider } from '../../support/decider.ts'
import { tool } from '../../support/story.ts'

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

describe('what touches nothing outside the log', () => {
  const losing = (times: number) => {
    const agent = new Decider({})
    agent.take({ kind: 'proceed' }, agent.claim('d0'))
    agent.answers(agent.state.driver!, ['complete_task', { summary: 'done' }])
    const after = Array.from({ length: times }, (_, n) => agent.take({ kind: 'proceed' }, agent.claim(`d${n + 1}`)))
    return { agent, after: after.map(types) }
  }

  test('is never in doubt when its drivers are lost', () => {
    const { agent, after } = losing(5)
    expect(after).toEqual(Array(5).fill(['tool_call_retry']))
    expect(callsOf(agent.state)).toMatchObject([{ lost: 5, attempt: 6, stage: { at: 'running' } }])
    agent.succeeds(agent.state.driver!, 'complete_task', { attempt: 6, input: { summary: 'done' } })
    expect(agent.state.machine).toEqual({ status: 'DONE' })
  })

  test('fails where it takes them with it again and again', () => {
    const { agent, after } = losing(6)
    expect(after[5]).toContain('tool_call_end')
    expect(after.flat()).not.toContain('tool_call_unknown')
    expect([callsOf(agent.state), isFinished(agent.state)]).toEqual([[], false])
  })
})

test('another tool that takes its drivers with it is left to a person in the end', () => {
  const agent = new Decider({}, [tool('look')])
  agent.take({ kind: 'proceed' }, agent.claim('d0'))
  agent.answers(agent.state.driver!, ['look', {}])
  const after = Array.from({ length: 6 }, (_, n) => types(agent.take({ kind: 'proceed' }, agent.claim(`d${n + 1}`))))
  expect(after.flat()).toEqual([...Array(5).fill('tool_call_retry'), 'tool_call_unknown'])
})
