import { describe, expect, test } from 'vitest'
import { CONTROL_TOOLS, controlTools } from '../../domain/agent/control/registry.ts'
import { Decider } from '../support/decider.ts'
import { tool } from '../support/story.ts'

// Given a run, when a control tool is called, then these events are decided.

const role = {
  name: 'r',
  profile: 'p',
  goal: 'g',
  phases: [
    { name: 'one', allowedTools: ['look'] },
    { name: 'two', allowedTools: [] },
  ],
  qualityGates: [{ after: 'one', check: 'tests_exist' }],
  maxReactLoop: 9,
}
const gate = (passed: boolean) => ({ gate: 'tests_exist', after: 'one', passed, evidence: 'e' })

/** A run in its first turn: its model has called these tools. */
function called(spec: Record<string, unknown>, ...calls: [name: string, args: object][]) {
  const agent = new Decider(spec, [tool('look')])
  const driver = agent.claim('d1')
  agent.take({ kind: 'proceed' }, driver)
  const events = agent.answers(driver, ...calls)
  const ends = events.flatMap(({ type, body }) => (type === 'tool_call_end' ? [body.error?.code] : []))
  return { agent, driver, ends, events }
}

describe('every control tool', () => {
  test('has its own name, and only one of them completes a run', () => {
    expect(new Set(CONTROL_TOOLS.map(({ spec }) => spec.name)).size).toBe(CONTROL_TOOLS.length)
    expect(CONTROL_TOOLS.filter(({ spec }) => spec.control === 'completes')).toHaveLength(1)
  })

  test('is offered with a role or without one as it says', () => {
    const names = (of: typeof role | null) => controlTools(of).map(({ name }) => name)
    expect(names(role).filter((name) => !names(null).includes(name))).toEqual(['advance_phase'])
  })

  test.each([
    ['complete_task', { summary: 's' }, 'COMPLETION_NOT_ALONE'],
    ['advance_phase', { summary: 's' }, 'SINGLE_STEP_VIOLATION'],
  ])('%s refuses the turn in which it is not the only call', (name, args, code) => {
    const { ends } = called({ role, policy: { mode: 'batch' } }, ['look', {}], [name, args])
    expect(ends).toEqual([code, code])
  })

  test.each([
    ['complete_task', { summary: ' ' }],
    ['complete_task', { summary: 's', more: 1 }],
    ['advance_phase', { summary: 's', to: 'one' }],
    ['advance_phase', { summary: 's', to: 'nowhere' }],
    ['set_context', { key: ' ', value: 1 }],
    ['ask_user', { question: '' }],
  ])('%s refuses %j', (name, args) => {
    expect(called({ role }, [name, args]).ends).toEqual(['INVALID_ARGUMENTS'])
  })
})

describe('complete_task', () => {
  const done = [['complete_task', { summary: 'done' }]] as [string, object][]

  test('ends the turn and the run, with the gates as they were found', () => {
    const { agent, driver } = called({ role }, ...done)
    const events = agent.succeeds(driver, 'complete_task', { input: { summary: 'done' }, gates: [gate(true)] })
    expect(events.map(({ type }) => type)).toEqual(['gate_checked', 'tool_call_end', 'turn_end', 'completion'])
    expect(agent.state.machine).toEqual({ status: 'DONE' })
  })

  test('fails where a gate does not hold, and the run goes on', () => {
    const { agent, driver } = called({ role }, ...done)
    const events = agent.succeeds(driver, 'complete_task', { input: { summary: 'done' }, gates: [gate(false)] })
    expect(events.find(({ type }) => type === 'tool_call_end')?.body).toMatchObject({ error: { code: 'GATE_FAILED' } })
    expect(agent.state.machine.status).toBe('THINKING')
  })

  test('fails where input is unread', () => {
    const { agent, driver } = called({}, ...done)
    agent.take({ kind: 'input', text: 'wait' })
    const events = agent.succeeds(driver, 'complete_task', { input: { summary: 'done' } })
    expect(events.find(({ type }) => type === 'tool_call_end')?.body).toMatchObject({ error: { code: 'CONFLICT' } })
  })
})

test('advance_phase moves on only where the gates hold', () => {
  const { agent, driver } = called({ role }, ['advance_phase', { summary: 's' }])
  agent.succeeds(driver, 'advance_phase', { input: { summary: 's' }, gates: [gate(false)] })
  expect(agent.state.phase).toBe('one')
  const input = { summary: 'the gate holds now' }
  agent.answers(driver, ['advance_phase', input])
  agent.succeeds(driver, 'advance_phase', { input, gates: [gate(true)] })
  expect(agent.state.phase).toBe('two')
})

test('set_context records the name and where the value stands', () => {
  const { agent, driver, events } = called({}, ['set_context', { key: 'k', value: 1 }])
  const { revision } = events.find(({ type }) => type === 'model_call_end')!
  const [set] = agent.succeeds(driver, 'set_context', { input: { key: 'k', value: 1 } })
  expect(set).toMatchObject({ type: 'context_set', body: { key: 'k', argumentsRef: { revision, block: 0 } } })
})

test('ask_user makes the agent wait for input once its turn has ended', () => {
  const { agent, driver } = called({}, ['ask_user', { question: 'Which one?' }])
  agent.succeeds(driver, 'ask_user', { input: { question: 'Which one?' } })
  expect(agent.state.machine).toEqual({ status: 'IDLE' })
  agent.take({ kind: 'input', text: 'the first' })
  agent.take({ kind: 'proceed' }, driver)
  expect(agent.state.machine.status).toBe('THINKING')
})
