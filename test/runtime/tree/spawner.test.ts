import { describe, expect, test } from 'vitest'
import { SpawnError } from '../../../domain/external/spawn/errors.ts'
import { AgentRuntime } from '../../../domain/external/spawn/runtime/agent-runtime.ts'
import {
  RecursiveSpawner,
  type RecursiveSpawnerOptions,
} from '../../../domain/external/spawn/runtime/recursive-spawner.ts'
import { ContextStore } from '../../../domain/store/runtime/store.ts'
import { answering, HeldProvider, idle } from '../../support/spawn/provider.ts'

// CONTRACTS 14, Spawner.

const agent = (id: string, parentId?: string) => ({ id, prompt: id, model: 'm', ...(parentId && { parentId }) })

function spawnerOf(provider = new HeldProvider() as never, more: Partial<RecursiveSpawnerOptions> = {}) {
  const store = new ContextStore()
  const runtime = new AgentRuntime({ provider, store })
  return { store, runtime, provider: provider as HeldProvider, spawner: new RecursiveSpawner({ runtime, ...more }) }
}
const echoing = (more: Partial<RecursiveSpawnerOptions> = {}) =>
  spawnerOf(answering((prompt) => prompt.split('\n')[0]!) as never, more)

test('depths 1 to 3 are allowed, depth 4 is rejected', async () => {
  const { spawner } = echoing()
  await spawner.spawn(agent('d0'))
  for (const depth of [1, 2, 3]) await spawner.spawn(agent(`d${depth}`, `d${depth - 1}`))
  expect(spawner.depth('d3')).toBe(3)
  await expect(spawner.spawn(agent('d4', 'd3'))).rejects.toMatchObject({ code: 'DEPTH_LIMIT' })
  await expect(spawner.spawn(agent('x', 'unknown'))).rejects.toMatchObject({ code: 'UNKNOWN_AGENT' })
})

test('three are at work at once', async () => {
  const { spawner, provider } = spawnerOf()
  const all = ['a', 'b', 'c', 'd', 'e'].map((id) => spawner.spawn(agent(id)))
  await idle()
  expect(provider.calls.length).toBe(3)
  provider.answer(1, 'ok')
  await idle()
  expect(provider.calls.length).toBe(4)
  for (const at of [0, 2, 3]) provider.answer(at, 'ok')
  await idle()
  provider.answer(4, 'ok')
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(5).fill('completed'))
})

test('parents that wait for their children keep none of them from running', async () => {
  const answer = async (prompt: string): Promise<string> => {
    const [id] = prompt.split('\n')
    if (id!.length === 4) return id!
    const children = await Promise.all(['x', 'y'].map((name) => spawner.spawn(agent(`${id}${name}`, id))))
    return `${id}(${children.map(({ result }) => result!.result).join()})`
  }
  const { spawner } = spawnerOf(answering(answer) as never, { maxConcurrent: 1 })
  const { result } = await spawner.spawn(agent('r'))
  expect(result!.result).toContain('rxx(rxxx,rxxy)')
  expect(result!.children.map(({ agentId }) => agentId)).toEqual(['rx', 'ry'])
  expect(result!.children[0]!.children[0]!.children.map(({ agentId }) => agentId)).toEqual(['rxxx', 'rxxy'])
})

test('a provider that rejects with a SpawnError fails its own agent alone, and its error is stored', async () => {
  const answer = async (prompt: string): Promise<string> => {
    const [id] = prompt.split('\n')
    if (id === 'c') throw new SpawnError('DEPTH_LIMIT', 'too deep')
    const { result } = await spawner.spawnAll(id!, [agent(id === 'a' ? 'b' : 'c')], 'concatenate')
    return `${id} got ${JSON.stringify(result)}`
  }
  const { spawner, store, runtime } = spawnerOf(answering(answer) as never)
  const { status, result } = await spawner.spawn(agent('a'))
  expect(status).toBe('completed')
  expect(result!.result).toContain('a got')
  expect(['a', 'b', 'c'].map((id) => runtime.getStatus(id))).toEqual(['completed', 'completed', 'failed'])
  expect(await store.get('agent-result-c')).toEqual({ error: 'too deep' })
  expect(await store.get('agent-result-b')).toContain('b got')
})

test('an agent that a crash has left is not begun, which fails the agent above it alone', async () => {
  const left = new SpawnError('DUPLICATE_AGENT', '"b" was run before a crash', { notBegun: 'b' })
  const answer = async (prompt: string): Promise<string> => {
    if (prompt.startsWith('b')) throw left
    await spawner.spawn(agent('b', 'a'))
    return 'never'
  }
  const { spawner, store } = spawnerOf(answering(answer) as never)
  expect((await spawner.spawn(agent('a'))).status).toBe('failed')
  expect(await store.get('agent-result-a')).toEqual({ error: '"b" was run before a crash' })
  await expect(store.get('agent-result-b')).rejects.toThrow('Variable not found')
})

test('a child that was not begun is missing from the merge of spawnAll, which keeps the results of the others', async () => {
  const left = new SpawnError('DUPLICATE_AGENT', '"b" was run before a crash', { notBegun: 'b' })
  const { spawner, store, runtime } = spawnerOf(
    answering((prompt) => (prompt.startsWith('b') ? Promise.reject(left) : prompt.split('\n')[0]!)) as never,
  )
  await spawner.spawn(agent('p'))
  const merged = await spawner.spawnAll('p', [agent('a'), agent('b'), agent('c')], 'structured')
  const error = '"b" was run before a crash'
  expect(merged).toEqual({ result: { a: 'a', b: { error }, c: 'c' }, missing: ['b'] })
  expect(runtime.getStatus('b')).toBe('failed')
  await expect(store.get('agent-result-b')).rejects.toThrow('Variable not found')
  await expect(spawner.spawnAll('p', [agent('d'), agent('a')])).rejects.toMatchObject({ code: 'DUPLICATE_AGENT' })
})

describe('onComplete', () => {
  test('return gives the result to the caller', async () => {
    const { spawner } = echoing()
    expect(await spawner.spawn(agent('a'))).toMatchObject({
      status: 'completed',
      result: { agentId: 'a', result: 'a' },
    })
  })

  test('store gives the reference to the caller, and the result to the store alone', async () => {
    const { spawner, store } = echoing()
    const stored = await spawner.spawn({ ...agent('a'), onComplete: 'store' })
    expect(stored).toEqual({
      ...{ agentId: 'a', status: 'completed' },
      ref: { key: 'agent-result-a', type: 'string', bytes: 1 },
    })
    expect(await store.get('agent-result-a')).toBe('a')
  })

  test('merge gives the result to the merge of the parent', async () => {
    const { spawner } = echoing()
    await spawner.spawn(agent('p'))
    const merging = spawner.spawn({ ...agent('a', 'p'), onComplete: 'merge' })
    await spawner.spawn(agent('b', 'p'))
    expect(await spawner.merge('p')).toEqual({ result: 'a', missing: [] })
    expect(await merging).toEqual({ agentId: 'a', status: 'completed' })
    expect(spawner.children('p').map(({ agentId }) => agentId)).toEqual(['a', 'b'])
  })
})

describe('merges', () => {
  const children = ['a', 'b', 'a2'].map((id) => agent(id))

  test.each([
    ['concatenate', 'a\n\nb\n\na2'],
    ['structured', { a: 'a', b: 'b', a2: 'a2' }],
    ['vote', 'a'],
    ['summarize', 'a\n\nb\n\na2'],
  ] as const)('%s', async (strategy, result) => {
    const { spawner } = echoing()
    await spawner.spawn(agent('p'))
    expect(await spawner.spawnAll('p', children, strategy)).toMatchObject({ result, missing: [] })
  })

  test('custom, which gets the results in the order of spawning, whatever the order of their coming', async () => {
    const { spawner, provider } = spawnerOf()
    const parent = spawner.spawn(agent('p'))
    await idle()
    provider.answer(0, 'p')
    await parent
    const merged = spawner.spawnAll('p', children, (all) =>
      all.map(({ agentId, result }) => `${agentId}=${result}`).join(),
    )
    await idle()
    provider.answer(3, '3')
    await idle()
    provider.fail(1, new Error('no'))
    provider.answer(2, '2')
    expect(await merged).toEqual({ result: 'a=[object Object],b=2,a2=3', missing: ['a'] })
  })

  test('a summary of a summarizer is cut, and where it fails the beginnings are taken', async () => {
    const long = () => spawnerOf(answering(() => 'L'.repeat(1_500)) as never, { summarizer: summarizer as never })
    let summarizer = async (text: string) => `${text.length} ${'s'.repeat(3_000)}`
    let { spawner } = long()
    await spawner.spawn(agent('p'))
    const { result } = await spawner.spawnAll('p', children.slice(0, 2), 'summarize')
    expect([(result as string).length, (result as string).slice(0, 6)]).toEqual([2_000, '3002 s'])
    summarizer = () => Promise.reject(new Error('no'))
    spawner = long().spawner
    await spawner.spawn(agent('p'))
    expect((await spawner.spawnAll('p', children.slice(0, 2), 'summarize')).result).toMatch(/^L{998}…\n\nL{998}…$/)
  })
})

test('cancel ends an agent and all below it', async () => {
  const { spawner, provider, runtime } = spawnerOf()
  const parent = spawner.spawn(agent('p'))
  await idle()
  const child = spawner.spawn(agent('c', 'p'))
  await idle()
  const cancelled = spawner.cancel('p')
  for (const { answer } of provider.calls) answer.resolve({ result: 'late' })
  await cancelled
  expect([await parent, await child].map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  expect([runtime.getStatus('p'), runtime.getStatus('c')]).toEqual(['cancelled', 'cancelled'])
})
