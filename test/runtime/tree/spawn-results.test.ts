import { expect, test } from 'vitest'
import { ProviderError } from '../../../domain/external/spawn/errors.ts'
import { AgentRuntime } from '../../../domain/external/spawn/runtime/agent-runtime.ts'
import { ContextStore } from '../../../domain/store/runtime/store.ts'
import { HeldProvider, idle } from '../../support/spawn/provider.ts'

test('the store is told which run of the log gave the result, or failed', async () => {
  const [provider, store] = [new HeldProvider(), new ContextStore()]
  const runtime = new AgentRuntime({ provider, store })
  const caused: unknown[] = []
  const set = store.set.bind(store)
  store.set = (key, value, from) => {
    caused.push([key, from])
    return set(key, value, from)
  }
  for (const id of ['a', 'b', 'c']) void runtime.run(runtime.create({ id, prompt: 'Go.', model: 'claude-opus-4-6' }))
  await idle()
  provider.answer(0, 'found', { runId: 'run-1' })
  provider.fail(1, new ProviderError('EXITED', 'claude exited with code 1', { runId: 'run-2' }))
  provider.answer(2, 'found')
  await idle()
  expect(caused).toEqual([
    ['agent-result-a', { runId: 'run-1' }],
    ['agent-result-b', { runId: 'run-2' }],
    ['agent-result-c', {}],
  ])
})
