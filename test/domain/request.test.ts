import { describe, expect, test } from 'vitest'
import type { AgentEvent, EventOf } from '../../domain/agent/events/events.ts'
import { type RoutingFacts, route } from '../../domain/agent/routing/routing.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { UNCOMPRESSED } from '../../domain/agent/window/compression-state.ts'
import {
  ASSEMBLER,
  assemblerOf,
  inputsHash,
  type RequestInputs,
  requestInputs,
} from '../../domain/agent/window/request.ts'
import { Decider } from '../support/decider.ts'
import { tool } from '../support/story.ts'

const role = {
  name: 'r',
  profile: 'p',
  goal: 'g',
  phases: [
    { name: 'one', allowedTools: ['look'] },
    { name: 'two', allowedTools: ['put'] },
  ],
  qualityGates: [],
  maxReactLoop: 9,
}

/** The events of a run through two phases, by turn. */
function twoPhases(): AgentEvent[][] {
  const agent = new Decider({ role }, [tool('look'), tool('put')])
  const driver = agent.claim('d1')
  const turns = [agent.take({ kind: 'proceed' }, driver)]
  for (const [name, args] of [
    ['look', {}],
    ['advance_phase', { summary: 's' }],
    ['set_context', { key: 'k', value: 1 }],
  ] as const) {
    const asked = agent.answers(driver, [name, args])
    turns.push([...asked, ...agent.succeeds(driver, name, { input: args })])
  }
  return turns
}
const of = <T extends AgentEvent['type']>(events: readonly AgentEvent[], type: T) =>
  events.filter((event): event is EventOf<T> & AgentEvent => event.type === type) as EventOf<T>[]

describe('prompt and tools are facts', () => {
  test('recorded before the first request that has them, and again only when they change', () => {
    const turns = twoPhases()
    expect(turns.map((turn) => of(turn, 'prompt_set').length)).toEqual([1, 0, 0, 0])
    expect(turns.map((turn) => of(turn, 'tools_changed').length)).toEqual([1, 0, 1, 0])
    const [first, second] = turns.flatMap((turn) => of(turn, 'tools_changed')).map(({ body }) => body.offered)
    expect(first).toContain('look')
    expect(first).not.toContain('put')
    expect(second).toContain('put')
    expect(second).not.toContain('look')
  })

  test('a request names the revisions of both, and the revision that it was assembled from', () => {
    const events = twoPhases().flat()
    const last = <T extends AgentEvent['type']>(type: T, before: number) =>
      of(events, type).findLast(({ revision }) => revision < before)?.revision
    const starts = of(events, 'model_call_start')
    expect(starts).toHaveLength(4)
    for (const { body, revision } of starts)
      expect(body.request).toMatchObject({
        assembler: ASSEMBLER,
        revision: revision - 1,
        prompt: last('prompt_set', revision),
        tools: last('tools_changed', revision),
      })
  })
})

const HASH = 'a'.repeat(64)
const SALT = '0'.repeat(32)
const inputs: RequestInputs = {
  purpose: 'turn',
  model: 'm',
  maxOutputTokens: 100,
  prompt: { revision: 4, hash: HASH, system: 'You are an agent.' },
  toolset: { revision: 5, hash: HASH, offered: ['put', 'look'], choice: 'any', parallel: false },
  defined: { hash: HASH, tools: [tool('look').spec, tool('put').spec] },
  segments: [
    { kind: 'keep', from: 0, to: 1 },
    { kind: 'keep', from: 2, to: 3 },
  ],
  messages: { hash: HASH, count: 3 },
}
const messages = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }) as const)

describe('an assembler', () => {
  test('makes a request of prompt, offered tools and the segments of the messages, in order', () => {
    const request = assemblerOf(ASSEMBLER)!(inputs, messages)
    expect(request?.messages).toEqual([messages[0], messages[2]])
    expect(request?.tools.map(({ name }) => name)).toEqual(['put', 'look'])
    expect(request).toMatchObject({ model: 'm', system: 'You are an agent.', toolChoice: 'any', maxOutputTokens: 100 })
  })

  test('makes none of segments that it does not know, and one of another version is unknown', () => {
    const pruned = { ...inputs, segments: [{ kind: 'prune', from: 0, to: 3 }] } as const
    expect(assemblerOf(ASSEMBLER)!(pruned, messages)).toBeNull()
    expect(assemblerOf(99)).toBeUndefined()
  })

  test('every input is part of the one hash', () => {
    const other = 'b'.repeat(64)
    const changed: Partial<RequestInputs>[] = [
      { purpose: 'summary' },
      { model: 'n' },
      { maxOutputTokens: 99 },
      { prompt: { ...inputs.prompt, hash: other } },
      { toolset: { ...inputs.toolset, hash: other } },
      { defined: { ...inputs.defined, hash: other } },
      { segments: [{ kind: 'keep', from: 0, to: 3 }] },
      { messages: { hash: other, count: 3 } },
    ]
    const hashes = [inputs, ...changed.map((change) => ({ ...inputs, ...change }))].map((one) =>
      inputsHash(SALT, one, HASH),
    )
    expect(new Set([...hashes, inputsHash(SALT, inputs, other), inputsHash(HASH, inputs, HASH)]).size).toBe(
      changed.length + 3,
    )
    expect(Object.keys(inputs).sort()).toEqual([...new Set(changed.flatMap((change) => Object.keys(change)))].sort())
  })

  test('no request is made before its prompt and tools are recorded', () => {
    const state = { prompt: null, toolset: null, compression: UNCOMPRESSED } as unknown as AgentState
    expect(() => requestInputs(state, inputs)).toThrow('before its prompt and tools')
  })
})

describe('routing', () => {
  const facts: RoutingFacts = {
    purpose: 'turn',
    requested: 'big',
    safeDefault: 'small',
    known: ['big', 'small'],
    failed: null,
    ofTurn: null,
  }

  test.each([
    ['the requested model', {}, 'big', 'the run names big'],
    ['the safe default where the run does not know it', { known: ['small'] }, 'small', 'not among'],
    ['the safe default where it failed in the turn before', { failed: 'big' }, 'small', 'failed in the turn before'],
    ['the requested model where another one failed', { failed: 'small' }, 'big', 'the run names'],
    ['the model of the turn, whatever failed', { failed: 'big', ofTurn: 'big' }, 'big', 'the model of this turn'],
  ] as const)('resolves %s', (_, given, resolved, reason) => {
    const decision = route({ ...facts, ...given })
    expect(decision).toMatchObject({ requested: 'big', resolved, purpose: 'turn' })
    expect(decision.reason).toContain(reason)
  })
})
