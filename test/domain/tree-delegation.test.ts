import { expect, test } from 'vitest'
import { delegateToAgent } from '../../domain/agent/control/delegate-to-agent.ts'
import { controlTools } from '../../domain/agent/control/registry.ts'
import { taskText } from '../../domain/agent/rules/delegation-text.ts'
import { totals } from '../../domain/agent/state/budget-account.ts'
import { callsOf } from '../../domain/agent/state/state.ts'
import type { Block } from '../../domain/calls/content.ts'
import { childAgentId } from '../../domain/log/ids.ts'
import type { AgentSpec } from '../../domain/tree/spec.ts'
import { testSpec, toolSpec } from '../support/harness.ts'
import { Agents } from '../support/tree/agents.ts'
import { HAND, modelOf, treeSpec } from '../support/tree/plans.ts'

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }
const use = (name: string, input: object, n = 0): Block => ({
  type: 'tool_use',
  id: `p${n}`,
  name,
  input: input as never,
})
const done = use('complete_task', { summary: 'done' })

/** A root whose model says these in turn; children complete at once. */
function root(spec: AgentSpec, ...says: readonly (readonly Block[])[]): Agents {
  const agents = new Agents(({ state }) => ({
    content: state.depth === 0 ? (says[state.turn - 1] ?? [done]) : [done],
    ...{ stopReason: 'tool_use', usage, servedBy: 'test-model' },
  }))
  agents.submit('root', { kind: 'start', spec, task: 'do it' })
  return agents
}

/** How the root's calls ended. */
const ends = (agents: Agents) =>
  agents
    .of('root')
    .events.flatMap((event) =>
      event.type === 'tool_call_end' && event.body.toolName === 'delegate_to_agent'
        ? [event.body.error?.code ?? 'ok']
        : [],
    )

test.each([
  ['a blank task', { role: 'coder', task: ' \n ' }],
  ['an unknown role', { role: 'architect', task: 't' }],
  ['a role that this run does not have', { role: 'analyst', task: 't' }],
  ['a constraint that is no text', { role: 'coder', task: 't', constraints: [1] }],
  ['a blank constraint', { role: 'coder', task: 't', constraints: [' '] }],
  ['a pattern that matches no tool', { role: 'coder', task: 't', constraints: ['no_such_tool'] }],
  ['a pattern of a tool that the agent may not use', { role: 'coder', task: 't', constraints: ['secret'] }],
  ['an unknown key', { role: 'coder', task: 't', model: 'm' }],
])('given %s, when it delegates, then INVALID_ARGUMENTS, and no agent is started', (_, args) => {
  const base = treeSpec()
  const spec = {
    ...base,
    tools: [...base.tools, toolSpec('secret')],
    policy: { ...base.policy, deniedTools: ['secret'] },
  }
  const agents = root(spec, [use('delegate_to_agent', args)])
  agents.settle()
  expect(ends(agents)).toEqual(['INVALID_ARGUMENTS'])
  expect([...agents.streams.keys()]).toEqual(['root'])
})

const delegate = (n = 0) => use('delegate_to_agent', { role: 'coder', task: `part ${n}` }, n)

test.each([
  ['DEPTH_LIMIT', treeSpec({}, { maxDepth: 0 })],
  ['AGENT_LIMIT', treeSpec({}, { agents: 1 })],
  ['BUDGET_EXCEEDED', treeSpec({ budget: { tokens: 16_000, nanoDollars: null } })],
])('a delegation for which there is no room fails with %s, and starts nothing', (code, spec) => {
  const agents = root(spec, [delegate()])
  agents.settle()
  expect(ends(agents)).toEqual([code])
  expect(agents.streams.size).toBe(1)
})

test('the agents of a run are a budget: of three delegations of one turn with two agents left the last one fails', () => {
  const agents = root(treeSpec({}, { agents: 3 }), [delegate(0), delegate(1), delegate(2)])
  agents.settle()
  expect([...ends(agents)].sort()).toEqual(['AGENT_LIMIT', 'ok', 'ok'])
  expect(agents.streams.size).toBe(3)
})

test('delegations of one batch run side by side, and beside other calls', () => {
  const agents = root(treeSpec(), [delegate(0), delegate(1), use('look', {}, 2)])
  for (let i = 0; i < 20; i++) agents.drive('root')
  expect(callsOf(agents.of('root').state).map(({ stage }) => stage.at)).toEqual(['child', 'child', 'ended'])
  expect(agents.streams.size, 'nothing was delivered yet').toBe(1)
})

test('a parent that only waits for children does not use its time', () => {
  const agents = root(treeSpec(), [delegate()])
  for (let i = 0; i < 20; i++) agents.drive('root')
  expect(agents.of('root').state.clock.running).toBe(false)
})

test('the task of a child is all that it is told: rules in words and the expected output with it, patterns not', () => {
  const body = {
    childId: 'c',
    role: 'coder',
    task: 'write it',
    grant: { tokens: null, nanoDollars: null, agents: 1 },
    tree: null,
  }
  expect(taskText({ ...body, constraints: ['look', 'no new packages'], expectedOutput: 'a list' })).toBe(
    'write it\n\nConstraints:\n- no new packages\n\nExpected output: a list',
  )
})

test('the parent keeps the end of its child: head, status, and what it took', () => {
  const agents = root(treeSpec(), [delegate()])
  agents.settle()
  const { events, state } = agents.of('root')
  const ended = events.find((event) => event.type === 'child_ended')!
  const child = agents.of(ended.body.childId)
  const reported = child.events.at(-2)!
  expect(reported.type).toBe('end_reported')
  expect(ended.body).toMatchObject({ status: 'completed', head: { revision: reported.revision } })
  expect(totals(state).spent).toMatchObject({ input: 30, output: 15, agents: 2 })
  expect(child.state).toMatchObject({ depth: 1, parent: { agentId: 'root', ancestors: [] }, standing: [] })
})

test('a child that is cancelled by a person is a failed call, and the parent goes on', () => {
  const agents = root(treeSpec(), [delegate()])
  for (let i = 0; i < 20; i++) agents.drive('root')
  for (const { source, target } of agents.pairs()) agents.deliver(source, target, 'next')
  const [childId] = [...agents.streams.keys()].filter((id) => id !== 'root')
  agents.submit(childId!, { kind: 'cancel', deadlineMs: 1_000 })
  agents.settle()
  expect(ends(agents)).toEqual(['CANCELLED'])
  expect(agents.of('root').state.machine.status).toBe('DONE')
})

test('a child whose stream cannot be read is a failed call, and its grant stays reserved', () => {
  const agents = root(treeSpec({ budget: { tokens: 100_000, nanoDollars: null } }), [delegate()])
  for (let i = 0; i < 20; i++) agents.drive('root')
  const [childId] = Object.keys(agents.of('root').state.family.children)
  agents.submit('root', { kind: 'child_lost', childId: childId!, reason: 'damaged' })
  expect(ends(agents)).toEqual(['EXECUTION_FAILED'])
  expect(totals(agents.of('root').state).uncertain.tokens).toBeGreaterThan(8_192)
})

test('a birth under an id that is taken bounces: the call fails, and its budget comes back', () => {
  const agents = root(treeSpec({ budget: { tokens: 100_000, nanoDollars: null } }), [delegate()])
  const taken = childAgentId('root.t1.c0')
  agents.submit(taken, { kind: 'start', spec: testSpec(), task: null })
  agents.settle()
  expect(ends(agents)).toEqual(['EXECUTION_FAILED'])
  expect(agents.of(taken).state.parent).toBeNull()
  expect(totals(agents.of('root').state)).toMatchObject({ spent: { agents: 1 }, uncertain: { tokens: 0, agents: 0 } })
})

test('a run is refused whose children could not be started', () => {
  const role = { ...HAND, phases: [{ name: 'work', allowedTools: ['no_such_tool'] }] }
  const spec = treeSpec()
  const broken = { ...spec, delegation: { ...spec.delegation!, roles: { coder: role } } }
  expect(() => root(broken)).toThrow('delegation.roles.coder: role phase "work": there is no tool "no_such_tool"')
})

test('a cancelled parent waits for its children until the deadline, and then names those that it has not reached', () => {
  const agents = root(treeSpec(), [delegate()])
  for (let i = 0; i < 20; i++) agents.drive('root')
  const [childId] = Object.keys(agents.of('root').state.family.children)
  agents.submit('root', { kind: 'cancel', deadlineMs: 1_000 })
  expect(agents.of('root').state.machine.status).toBe('TOOL_WAIT')
  agents.now += 1_000
  agents.drive('root')
  const { machine } = agents.of('root').state
  expect(machine).toMatchObject({ status: 'ERROR', code: 'CANCELLED' })
  expect((machine as { error: string }).error).toContain(childId)
})

test('a child whose tokens run out is given more by its parent', () => {
  const agents = new Agents(({ state }) => {
    const looks = state.turn < 4 && state.machine.status !== 'RECOVERY'
    const content = state.depth === 0 ? (state.turn === 1 ? [delegate()] : [done]) : looks ? [use('look', {})] : [done]
    const used = state.depth === 0 ? usage : { ...usage, input: 9_000 }
    return { content, stopReason: 'tool_use', usage: used, servedBy: 'test-model' }
  })
  agents.submit('root', { kind: 'start', spec: treeSpec({ budget: { tokens: 60_000, nanoDollars: null } }), task: 'x' })
  agents.settle()
  const child = [...agents.streams].find(([id]) => id !== 'root')![1]
  const types = child.events.map(({ type }) => type).filter((type) => type.startsWith('budget'))
  expect(types.slice(0, 2)).toEqual(['budget_requested', 'budget_received'])
  expect(child.state.family.received.tokens).toBeGreaterThanOrEqual(8_192)
  expect(child.state.machine.status).toBe('DONE')
  expect(agents.of('root').state.machine.status).toBe('DONE')
})

test('an obligation that skips one is refused, in order it is taken once, and the parent is told what bounced', () => {
  const agents = root(treeSpec(), [delegate()])
  for (let i = 0; i < 20; i++) agents.drive('root')
  const [childId] = Object.keys(agents.of('root').state.family.children)
  const target = `agent-${childId}`
  agents.deliver('root', target, 'next')
  agents.submit('root', { kind: 'pause' })
  agents.submit('root', { kind: 'resume' })
  const child = () => agents.of(childId!)
  const born = child().events.length
  agents.deliver('root', target, 'skips')
  expect(child().events.length).toBe(born)
  agents.deliver('root', target, 'forgets')
  expect(child().state.paused).toBe(true)
  agents.deliver('root', target, 'next')
  agents.deliver('root', target, 'again')
  expect(
    child()
      .events.slice(born)
      .map(({ type }) => type),
  ).toEqual(['paused'])
  agents.submit(childId!, { kind: 'cancel', deadlineMs: 1 })
  agents.deliver('root', target, 'next')
  const told = agents.of('root').events.findLast((event) => event.type === 'delivered')!
  expect(told.body).toMatchObject({ target, bounced: [{ reason: 'the agent has finished' }] })
  agents.settle()
  expect(ends(agents)).toEqual(['CANCELLED'])
})

test('usage that becomes known after the end goes up to the root, once', () => {
  const chain = { rounds: [{ children: [{ rounds: [], ends: 'completes' }], looks: 0 }], ends: 'completes' } as const
  const agents = new Agents(modelOf({ rounds: [{ children: [chain], looks: 0 }], ends: 'completes' }))
  agents.submit('root', { kind: 'start', spec: treeSpec(), task: 'do it' })
  const deepest = () => [...agents.streams].find(([, { state }]) => state.depth === 2)?.[0]
  const calls = () => agents.of(deepest()!).events.some(({ type }) => type === 'model_call_start')
  while (deepest() === undefined || !calls()) {
    for (const { source, target } of agents.pairs()) agents.deliver(source, target, 'next')
    for (const id of [...agents.streams.keys()]) if (deepest() === undefined || !calls()) agents.drive(id)
  }
  agents.claim(deepest()!)
  agents.settle()
  const before = totals(agents.of('root').state)
  expect(before.uncertain.tokens).toBeGreaterThan(0)
  const [late] = agents.late
  agents.submit(late!.agentId, late!.command, late!.driver)
  agents.submit(late!.agentId, late!.command, late!.driver)
  agents.settle()
  const { spent, uncertain } = totals(agents.of('root').state)
  expect(spent.output).not.toBe(before.spent.output)
  expect(uncertain.tokens).toBe(0)
  const said = [...agents.streams.values()].map(
    ({ events }) => events.filter(({ type }) => type === 'usage_reported').length,
  )
  expect(said).toEqual([0, 1, 1])
})

test('the tool is no part of any agent that does not ask for it', () => {
  expect(controlTools(null).map(({ name }) => name)).not.toContain('delegate_to_agent')
  expect(controlTools(HAND).map(({ name }) => name)).not.toContain('delegate_to_agent')
  expect(testSpec().delegation).toBeUndefined()
  expect(delegateToAgent.spec.control).toBe('delegates')
})
