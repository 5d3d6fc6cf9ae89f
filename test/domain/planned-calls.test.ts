import { describe, expect, test } from 'vitest'
import { planAgentCalls } from '../../domain/agent/tasks/plan.ts'
import type { RequestedCall } from '../../domain/calls/requested-calls.ts'
import { Decider } from '../support/decider.ts'
import { tool } from '../support/story.ts'

// What becomes of each call of an answer before anything of it runs (CONTRACTS 3): every word of the plan.

const TOOLS = [
  tool('look'),
  tool('copy', { effect: 'reconcilable', paths: { from: 'read', to: 'write' } }),
  tool('run_command', { effect: 'irreversible', paths: { cwd: 'read' } }),
]
const state = (spec: Record<string, unknown> = {}) => new Decider({ policy: { mode: 'batch' }, ...spec }, TOOLS).state

const asks = (name: string, args: object | null = {}, more: object = {}): RequestedCall => ({
  ...{ block: 0, providerId: 'p', name, arguments: args as RequestedCall['arguments'] },
  ...more,
})
const plan = (one: RequestedCall, paths = {}, of = state()) => planAgentCalls(of, [one], [paths], null)[0]!

test('a call that may run is planned with its places and its effect, and nothing else', () => {
  expect(plan(asks('copy', { from: 'a', to: 'b' }), { from: 'x/a', to: 'x/b' })).toEqual({
    ...{ block: 0, toolName: 'copy', argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ...{ reads: ['x/a'], writes: ['x/b'], effect: 'reconcilable' },
  })
})

test('a tool that there is not is named as the model named it, where a name is left of it', () => {
  expect(plan(asks('noth\u0000ing'))).toMatchObject({ toolName: 'unknown', askedName: 'noth ing', effect: 'pure' })
  expect(plan(asks('\u0000'))).not.toHaveProperty('askedName')
})

test('a tool that the constraints of a delegated task leave out is denied, and no unknown tool', () => {
  const of = state({ withheld: ['web:get', 'put'] })
  for (const name of ['web__get', 'web:get', 'put'])
    expect(plan(asks(name), {}, of).refused).toMatchObject({ code: 'PERMISSION_DENIED', rule: 'constraints' })
  expect(plan(asks('nothing'), {}, of).refused).toMatchObject({ code: 'RESOURCE_NOT_FOUND', rule: 'unknown_tool' })
})

test.each<[RequestedCall, string]>([
  [asks('look', null), 'the arguments are not a JSON object, or a key stands twice in one'],
  [asks('look', null, { beyond: 'the arguments are too large' }), 'the arguments are too large'],
  [asks('look', { a: null, b: { c: 'x\u0000' } }), 'b.c: contains a NUL character'],
  [asks('look', { a: [1, { b: '\ud800' }] }), 'a.1.b: contains half of a surrogate pair'],
  [asks('look', { a: { constructor: 1 } }), 'a.constructor: this key is not allowed'],
  [asks('look', { 'a\u0000': 1 }), 'a key: contains a NUL character'],
])('%j is refused with its place', (call, message) => {
  expect(plan(call).refused).toEqual({ code: 'INVALID_ARGUMENTS', message })
})

test('null, numbers and lists are no flaw of arguments', () => {
  expect(plan(asks('look', { a: null, b: 1, c: [null, true] }))).not.toHaveProperty('refused')
})

test('after the final warning the refusal names the tool that completes the run', () => {
  const agent = new Decider({ limits: { maxTurns: 1, wallClockMs: null } }, TOOLS)
  agent.take({ kind: 'proceed' }, agent.claim('d'))
  expect(agent.state.machine.status).toBe('RECOVERY')
  expect(plan(asks('look'), {}, agent.state).refused).toEqual({
    ...{ code: 'PERMISSION_DENIED', rule: 'recovery' },
    message: 'after the final warning only complete_task may be called',
  })
})

const ROLE = {
  ...{ name: 'r', profile: 'p', goal: 'g', qualityGates: [], maxReactLoop: 9 },
  phases: [{ name: 'p', allowedTools: ['*'] }],
  idempotentCommands: [
    ['make', 'check'],
    ['npm', 'run', 'lint'],
  ],
}

test.each([
  ['npm test', '', 'idempotent'],
  ['npm test --watch', '', 'irreversible'],
  ['make check', '', 'idempotent'],
  ['make check all', '', 'idempotent'],
  ['make', '', 'irreversible'],
  ['npm run lint', '', 'idempotent'],
  ['npm run', '', 'irreversible'],
  ['rm -r .', '', 'irreversible'],
  ['npm test', 'elsewhere', 'irreversible'],
  ['npm test; rm -r .', '', 'irreversible'],
])('the command %j in %j is %s', (command, cwd, effect) => {
  const of = state({ role: ROLE, testCommand: ['npm', 'test'] })
  expect(plan(asks('run_command', { command }), { cwd }, of).effect).toBe(effect)
  const { effect: without } = plan(asks('run_command', { command }), { cwd })
  expect(without).toBe('irreversible')
})

describe('the secrets to which the arguments refer are named with their destinations, and no other', () => {
  const [one, two] = ['a', 'b'].map((letter) => ({ name: letter, reference: `secret:ku_${letter.repeat(26)}` }))
  const planned = (name: string, args: object, ...secrets: object[]) =>
    plan(asks(name, args), {}, state({ secrets })).secrets

  test('by a grant without a place', () => {
    const sent = [{ ...two, to: 'tool look' }]
    expect(planned('look', { deep: [`x ${two!.reference}`] }, one!, two!)).toEqual(sent)
    expect(planned('look', { deep: 'none' }, one!, two!)).toBeUndefined()
    expect(planned('nothing', { deep: two!.reference }, one!, two!)).toBeUndefined()
    expect(planned('look', { deep: two!.reference }, { ...two, host: 'api.example.com' })).toBeUndefined()
  })

  test('by grants of programs', () => {
    const [git, jq] = ['git', 'jq'].map((command) => ({ ...two, command }))
    const command = (line: string, ...grants: object[]) => planned('run_command', { command: line }, ...grants)
    const of = (to: string) => [{ ...two, to }]
    expect(command(`git -c x=${two!.reference} fetch`, git!)).toEqual(of('command git'))
    expect(command(`git log | jq ${two!.reference}`, git!, jq!)).toEqual(of('command git, jq'))
    expect(command(`git log | jq ${two!.reference}`, git!)).toBeUndefined()
    expect(command(`git log > ${two!.reference}`, git!)).toBeUndefined()
    expect(command(`git log > ${two!.reference}`, two!)).toEqual(of('command sh'))
  })
})

test('arguments have the same hash in any order of their keys, and another one in another run', () => {
  const of = { ...state(), hashSalt: 'aa' }
  const hash = (args: object, salted = of) => plan(asks('look', args), {}, salted).argumentsHash
  expect(hash({ a: 1, b: 2 })).toBe(hash({ b: 2, a: 1 }))
  const args = { a: 1 }
  expect(hash(args)).not.toBe(hash(args, { ...of, hashSalt: 'bb' }))
})
