import { describe, expect, test } from 'vitest'
import { callsOf } from '../../domain/agent/state/state.ts'
import { Decider } from '../support/decider.ts'
import { tool } from '../support/story.ts'

// Calls that were planned by a permission, and have not begun when it ends.

const TOOLS = [tool('put', { effect: 'irreversible' }), tool('look', { effect: 'irreversible' })]
const GRANTED = { id: 'p1', tool: 'put', scope: 'run', until: Date.UTC(2027, 0, 1), phase: null } as const

/** The calls of one answer of an agent that may put by permission alone: they run one after the other. */
function agentThat(asks: readonly string[], policy: object = {}) {
  const spec = { policy: { mode: 'batch', deniedTools: ['put'], ...policy } }
  const agent = new Decider(spec, TOOLS)
  const driver = agent.claim('d')
  agent.take({ kind: 'proceed' }, driver)
  agent.state = { ...agent.state, permissions: [GRANTED, { ...GRANTED, id: 'p2', tool: 'other' }] }
  agent.answers(driver, ...asks.map((name) => [name, {}] as const))
  const stages = () => callsOf(agent.state).map(({ stage, toolName }) => `${toolName} ${stage.at}`)
  return { agent, driver, stages }
}
const revoke = (toolCallId: string) => ({ kind: 'revoke_permission', toolCallId }) as const

describe('a permission that is taken back', () => {
  test('ends the calls that wait for their turn by it; one that is at work finishes', () => {
    const { agent, stages } = agentThat(['put', 'look', 'put'])
    expect(stages()).toEqual(['put running', 'look planned', 'put planned'])
    const ends = agent.take(revoke('p1')).filter(({ type }) => type === 'tool_call_end')
    expect(ends).toMatchObject([{ body: { error: { code: 'PERMISSION_DENIED', rule: 'permission_ended' } } }])
    expect(stages()).toEqual(['put running', 'look planned', 'put ended'])
  })

  test('ends a call that waits for its approval by it', () => {
    const { agent, stages } = agentThat(['put'], { requiresApproval: ['put'] })
    expect(stages()).toEqual(['put approval'])
    const ends = agent.take(revoke('p1')).filter(({ type }) => type === 'tool_call_end')
    expect(ends).toMatchObject([{ body: { error: { rule: 'permission_ended' } } }])
  })

  test('ends no call of another one', () => {
    const { agent, stages } = agentThat(['put', 'put'])
    const before = stages()
    agent.take(revoke('p2'))
    expect(stages()).toEqual(before)
    expect(() => agent.take(revoke('p3'))).toThrow(/no permission in force/)
  })
})

describe('a permission that was given to the run of a record', () => {
  /** The second of two calls after the record was left at a revision. */
  const second = (name: string, left: (planned: number) => number | null) => {
    const { agent, driver } = agentThat(['look', name])
    const planned = callsOf(agent.state)[1]!.argumentsRef.revision
    const reuse = { stream: 'agent-source', after: null, models: 1, tools: 0, left: left(planned) }
    agent.state = { ...agent.state, reuse }
    const events = agent.succeeds(driver, 'look')
    const end = events.find((event) => event.type === 'tool_call_end' && event.toolCallId?.endsWith('c1'))
    return end?.type === 'tool_call_end' ? end.body.error?.rule : callsOf(agent.state)[1]?.stage.at
  }

  test('lets no call begin that was planned before the record was left', () => {
    expect(second('put', (planned) => planned)).toBe('permission_of_record')
    expect(second('put', (planned) => planned + 1)).toBe('permission_of_record')
  })

  test('is no concern of calls that were planned later, and of calls without permission', () => {
    expect(second('put', (planned) => planned - 1)).toBe('running')
    expect(second('look', (planned) => planned)).toBe('running')
  })
})
