import { describe, expect, test } from 'vitest'
import { ProviderError } from '../../../domain/external/spawn/errors.ts'
import { AgentRuntime } from '../../../domain/external/spawn/runtime/agent-runtime.ts'
import { EpisodicMemory } from '../../../domain/external/spawn/runtime/episodic-memory.ts'
import { FunctionRegistry } from '../../../domain/external/spawn/runtime/function-registry.ts'
import { ContextStore } from '../../../domain/store/runtime/store.ts'
import { QuickClock } from '../../support/mcp/servers.ts'
import { answering, HeldProvider, idle } from '../../support/spawn/provider.ts'

// Seed 004, sentence by sentence; CONTRACTS 14.

const CONFIG = { id: 'agent-001', prompt: 'Go.', model: 'claude-opus-4-6' }
const NONE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
const ADD = { name: 'add', description: 'Adds.', parameters: { type: 'object' }, call: () => 3 }

function held(more: object = {}) {
  const [provider, store] = [new HeldProvider(), new ContextStore()]
  return { provider, store, runtime: new AgentRuntime({ provider, store, ...more }) }
}

describe('Agent Creation', () => {
  test('create registers an idle agent', () => {
    const { runtime } = held()
    const agent = runtime.create(CONFIG)
    expect(agent).toMatchObject({ id: 'agent-001', config: CONFIG, status: 'idle', iterations: 0, cancelled: false })
    expect(runtime.getAgent('agent-001')).toBe(agent)
    expect(runtime.getStatus('agent-001')).toBe('idle')
  })

  test('a duplicate id is rejected, as is an unknown one', () => {
    const { runtime } = held()
    runtime.create(CONFIG)
    expect(() => runtime.create(CONFIG)).toThrow('"agent-001" was created before')
    expect(() => runtime.getStatus('other')).toThrow('there is no agent "other"')
    expect(runtime.getAgent('other')).toBeUndefined()
  })
})

describe('Agent Execution', () => {
  test('calls the provider once and waits; then stores and returns the result', async () => {
    const { runtime, provider, store } = held()
    const agent = runtime.create({ ...CONFIG, maxBudgetUsd: 2, permissionMode: 'plan', timeoutMs: 9 })
    const run = runtime.run(agent)
    await idle()
    expect(runtime.getStatus('agent-001')).toBe('running')
    expect(provider.calls.map(({ params: { signal: _, ...params } }) => params)).toEqual([
      {
        ...{ prompt: 'Go.', model: 'claude-opus-4-6', agentId: 'agent-001', attempt: 1, retried: false },
        ...{ maxBudgetUsd: 2, permissionMode: 'plan', timeoutMs: 9 },
      },
    ])
    const tokenUsage = { inputTokens: 5, outputTokens: 2, totalTokens: 7 }
    provider.answer(0, 'found', { costUsd: 0.5, sessionId: 's', numTurns: 4, durationMs: 1, tokenUsage })
    expect(await run).toEqual({
      ...{ agentId: 'agent-001', result: 'found', tokenUsage, iterations: 1, children: [] },
      ...{ costUsd: 0.5, sessionId: 's', numTurns: 4 },
    })
    expect(await store.get('agent-result-agent-001')).toBe('found')
    expect(agent).toMatchObject({ status: 'completed', result: 'found', iterations: 1, tokenUsage })
  })

  test('the prompt has the variable, the sub-agent line and the functions', async () => {
    const provider = answering(() => 'ok')
    const store = new ContextStore()
    const functions = new FunctionRegistry().register(ADD)
    const runtime = new AgentRuntime({ provider, store, functions })
    const contextRef = await store.set('notes', 'x'.repeat(3_000))
    await runtime.run(runtime.create({ ...CONFIG, contextRef, parentId: 'p' }))
    expect(provider.prompts).toEqual([
      [
        `Go.\n\nContext variable "notes" (3000 bytes, type: string):\n${'x'.repeat(1_997)}…`,
        'You are a sub-agent. Complete your task and return the result.',
        'Available functions (MCP server "keepup"):\n- add: Adds.',
      ].join('\n\n'),
    ])
  })

  test('a reference that does not resolve fails before the provider is called', async () => {
    const { runtime, provider, store } = held()
    const contextRef = { key: 'gone', type: 'string', bytes: 1 } as const
    const result = await runtime.run(runtime.create({ ...CONFIG, contextRef }))
    expect(result).toMatchObject({ result: { error: 'Variable not found: gone' }, iterations: 0 })
    expect([provider.calls.length, runtime.getStatus('agent-001')]).toEqual([0, 'failed'])
    expect(await store.get('agent-result-agent-001')).toEqual({ error: 'Variable not found: gone' })
  })

  test('a failure of the provider is a result, also where it throws at once', async () => {
    for (const execute of [
      () => Promise.reject(new Error('exited with code 1')),
      () => {
        throw new Error('exited with code 1')
      },
    ]) {
      const store = new ContextStore()
      const runtime = new AgentRuntime({ provider: { execute }, store })
      const result = await runtime.run(runtime.create(CONFIG))
      expect(result).toEqual({
        ...{ agentId: 'agent-001', result: { error: 'exited with code 1' }, iterations: 1 },
        ...{ tokenUsage: NONE, children: [] },
      })
      expect(runtime.getStatus('agent-001')).toBe('failed')
      expect(await store.get('agent-result-agent-001')).toEqual({ error: 'exited with code 1' })
    }
  })

  test('a second run is rejected, while it runs and after', async () => {
    const { runtime, provider } = held()
    const agent = runtime.create(CONFIG)
    const run = runtime.run(agent)
    await idle()
    await expect(runtime.run(agent)).rejects.toMatchObject({ code: 'RUN_TWICE' })
    provider.answer(0, 'ok')
    await run
    await expect(runtime.run(agent)).rejects.toMatchObject({ code: 'RUN_TWICE' })
    expect(provider.calls.length).toBe(1)
  })

  test('an id whose result is in the store is taken', async () => {
    const { runtime, provider, store } = held()
    await store.set('agent-result-agent-001', 'before')
    await expect(runtime.run(runtime.create(CONFIG))).rejects.toMatchObject({ code: 'DUPLICATE_AGENT' })
    expect([provider.calls.length, await store.get('agent-result-agent-001')]).toEqual([0, 'before'])
  })

  test('a listener hears what happens, and ends nothing', async () => {
    const heard: string[] = []
    const onLog = (id: string, message: string) => {
      heard.push(`${id}: ${message}`)
      throw new Error('a fault of the listener')
    }
    const runtime = new AgentRuntime({ provider: answering(() => 'ok'), store: new ContextStore(), onLog })
    await runtime.run(runtime.create(CONFIG))
    expect(heard).toEqual(['agent-001: running', 'agent-001: completed'])
  })
})

describe('Agent Cancellation', () => {
  test('before its run: the provider is not called, iterations is 0, the result is empty', async () => {
    const { runtime, provider, store } = held()
    const agent = runtime.create(CONFIG)
    await runtime.cancel('agent-001')
    await runtime.cancel('agent-001')
    expect(await runtime.run(agent)).toEqual({
      ...{ agentId: 'agent-001', result: '', tokenUsage: NONE, iterations: 0, children: [] },
    })
    expect([agent.status, agent.cancelled, provider.calls.length]).toEqual(['cancelled', true, 0])
    expect(await store.list()).toEqual([])
  })

  test('in flight: the process is told, and a late result is discarded', async () => {
    const { runtime, provider, store } = held()
    const agent = runtime.create(CONFIG)
    const run = runtime.run(agent)
    await idle()
    const cancelled = runtime.cancel('agent-001')
    expect(runtime.getStatus('agent-001')).toBe('cancelled')
    expect(provider.calls[0]!.params.signal!.aborted).toBe(true)
    provider.answer(0, 'too late')
    await cancelled
    expect(await run).toMatchObject({ result: '', iterations: 1 })
    expect([agent.status, agent.result]).toEqual(['cancelled', undefined])
    expect(await store.list()).toEqual([])
  })

  test('in flight with a provider that never ends: the run is given up', async () => {
    const { runtime } = held({ clock: new QuickClock() })
    const run = runtime.run(runtime.create(CONFIG))
    await idle()
    await runtime.cancel('agent-001')
    expect(await run).toMatchObject({ result: '' })
  })

  test('between two attempts: no further one is made', async () => {
    const { runtime, provider } = held({ retry: { maxRetries: 5, backoffMs: 60_000 } })
    const run = runtime.run(runtime.create(CONFIG))
    await idle()
    provider.fail(0, new ProviderError('EXITED', 'busy', { status: 529 }))
    await idle()
    await runtime.cancel('agent-001')
    expect(await run).toMatchObject({ result: '', iterations: 1 })
    expect(provider.calls.length).toBe(1)
  })

  test('after its end it changes nothing', async () => {
    const runtime = new AgentRuntime({ provider: answering(() => 'ok'), store: new ContextStore() })
    await runtime.run(runtime.create(CONFIG))
    await runtime.cancel('agent-001')
    expect(runtime.getStatus('agent-001')).toBe('completed')
  })
})

describe('Planned Improvements', () => {
  test('retries with backoff, and counts tokens and money of every attempt', async () => {
    const clock = new QuickClock()
    const { runtime, provider } = held({ clock, jitter: () => 0, retry: { maxRetries: 2 } })
    const run = runtime.run(runtime.create(CONFIG))
    await idle()
    const tokenUsage = { inputTokens: 3, outputTokens: 1, totalTokens: 4 }
    provider.fail(0, new ProviderError('EXITED', 'busy', { status: 429, tokenUsage, costUsd: 0.25 }))
    await idle()
    provider.fail(1, new ProviderError('TIMED_OUT', 'slow'))
    await idle()
    provider.answer(2, 'ok', { tokenUsage, costUsd: 0.5 })
    expect(await run).toMatchObject({
      ...{ result: 'ok', iterations: 3, costUsd: 0.75 },
      tokenUsage: { inputTokens: 6, outputTokens: 2, totalTokens: 8 },
    })
    expect(clock.waits.filter((ms) => ms < 15_000)).toEqual([1_000, 2_000])
    expect(provider.calls.map(({ params }) => [params.attempt, params.retried])).toEqual([
      [1, true],
      [2, true],
      [3, true],
    ])
  })

  test('retries end with their number, and are not made for a failure that lasts', async () => {
    for (const [error, calls] of [
      [new ProviderError('EXITED', 'busy', { status: 529 }), 2],
      [new ProviderError('EXITED', 'wrong'), 1],
    ] as const) {
      let made = 0
      const execute = () => {
        made++
        return Promise.reject(error)
      }
      const runtime = new AgentRuntime({
        ...{ provider: { execute }, store: new ContextStore(), clock: new QuickClock() },
        retry: { maxRetries: 1 },
      })
      expect(await runtime.run(runtime.create(CONFIG))).toMatchObject({ result: { error: error.message } })
      expect(made).toBe(calls)
    }
  })

  test('results are remembered', async () => {
    const episodes = new EpisodicMemory(new ContextStore())
    const provider = answering((prompt) => {
      if (prompt === 'Fail.') throw new Error('no')
      return 'x'.repeat(3_000)
    })
    const runtime = new AgentRuntime({ provider, store: new ContextStore(), memory: episodes, clock: new QuickClock() })
    await runtime.run(runtime.create(CONFIG))
    await runtime.run(runtime.create({ ...CONFIG, id: 'b', prompt: 'Fail.' }))
    const [last, first] = await episodes.recent(5)
    expect(last).toEqual({ agentId: 'b', status: 'failed', task: 'Fail.', outcome: '{"error":"no"}', at: 0 })
    expect([first!.agentId, first!.status, first!.outcome.length]).toEqual(['agent-001', 'completed', 2_000])
    expect((await episodes.recent(5, 'FAIL no')).map(({ agentId }) => agentId)).toEqual(['b'])
    expect((await episodes.recent(1)).length).toBe(1)
  })

  test('functions are given to the provider, and called by name', async () => {
    const functions = new FunctionRegistry().register(ADD)
    expect(() => functions.register(ADD)).toThrow('add is registered already')
    const { runtime, provider } = held({ functions })
    void runtime.run(runtime.create(CONFIG))
    await idle()
    const context = { agentId: 'agent-001', signal: new AbortController().signal }
    expect(await provider.calls[0]!.params.functions!.call('add', {}, context)).toBe(3)
    await expect(functions.call('other', {}, context)).rejects.toMatchObject({ code: 'UNKNOWN_FUNCTION' })
  })
})

describe('After a crash', () => {
  test('a stored result is given again, and nothing is called', async () => {
    const { runtime, provider, store } = held()
    await store.set('agent-result-a', 'before')
    await store.set('agent-result-b', { error: 'no' })
    expect(await runtime.resume({ ...CONFIG, id: 'a' })).toMatchObject({ result: 'before', iterations: 0 })
    expect(await runtime.resume({ ...CONFIG, id: 'b' })).toMatchObject({ result: { error: 'no' } })
    expect([runtime.getStatus('a'), runtime.getStatus('b'), provider.calls.length]).toEqual(['completed', 'failed', 0])
  })

  test('without a store or a provider that outlives it nothing can be resumed; it can be ended by name', async () => {
    const { runtime, provider, store } = held()
    await expect(runtime.resume(CONFIG)).rejects.toMatchObject({ code: 'NOT_RESUMABLE' })
    expect(await store.list()).toEqual([])
    expect(provider.calls.length).toBe(0)
    expect(await runtime.end('other')).toBe(true)
    expect(await store.get('agent-result-other')).toEqual({ error: 'ended after a crash' })
    expect(await runtime.end('other')).toBe(false)
  })
})
