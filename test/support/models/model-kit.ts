import { expect, test } from 'vitest'
import { agentBodies } from '../../../domain/agent/events/events.ts'
import { requestedCalls } from '../../../domain/calls/requested-calls.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { ModelProvider } from '../../../domain/ports/index.ts'
import { ask, failure, never, request, result } from './model-request.ts'

/** How the kit controls a provider. Each answer: the text `Reading it.` and calls of `read_file` {path: "a"}. */
interface ModelRig {
  /** Answers every request with text and two calls. */
  answering(): Promise<ModelProvider>
  /** Fails every request with a transient error. */
  failing(): Promise<ModelProvider>
  /** Streams some text and never ends. */
  hanging(): Promise<ModelProvider>
}

/** The contract of every model provider. */
export function modelKit(rig: ModelRig): void {
  test('an answer is one that the log can hold, and its calls are found in it', async () => {
    const answer = await ask(await rig.answering())
    const { streamed: _, ...outcome } = answer
    const stored = { attempt: 1, purpose: 'turn', nanoDollars: null, durationMs: 0, calls: [], ...outcome }
    expect(() => agentBodies.model_call_end.parse(stored)).not.toThrow()
    expect(() => canonicalBytes(outcome)).not.toThrow()
    const calls = requestedCalls(outcome.content)
    expect(calls.map((c) => [c.name, c.arguments])).toEqual([
      ['read_file', { path: 'a' }],
      ['read_file', { path: 'a' }],
    ])
    expect(new Set(calls.map((c) => c.providerId)).size).toBe(2)
    expect(outcome.stopReason).toBe('tool_use')
    expect(outcome.usage.input).toBeGreaterThan(0)
    expect(outcome.usage.output).toBeGreaterThan(0)
    expect(outcome.servedBy).not.toBe('')
  })

  test('streamed text is the text of the answer', async () => {
    const { content, streamed } = await ask(await rig.answering())
    expect(content.filter((b) => b.type === 'text').map((b) => b.text)).toEqual(['Reading it.'])
    expect(streamed).toBe('Reading it.')
  })

  test('its answer can be given back, after a round trip through JSON', async () => {
    const provider = await rig.answering()
    const first = await ask(provider)
    const content = JSON.parse(JSON.stringify(first.content)) as typeof first.content
    const results = requestedCalls(content).map((c) => result(c.providerId, 'ok'))
    const next = await ask(
      provider,
      request({ messages: [{ role: 'user', content: 'go' }, { role: 'assistant', content }, ...results] }),
    )
    expect(next.stopReason).toBe('tool_use')
  })

  test('a failure is a ModelError that may pass', async () => {
    expect(await failure(await rig.failing())).toMatchObject({ name: 'ModelError', transient: true })
  })

  test('an abort before the call, or in mid-stream, rejects with its reason', async () => {
    const reason = new Error('enough')
    const hanging = await rig.hanging()
    await expect(hanging.call(request(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const abort = new AbortController()
    const call = hanging.call(request(), { signal: abort.signal, onText: () => abort.abort(reason) })
    await expect(call).rejects.toBe(reason)
  })

  test('works without a listener for text', async () => {
    expect((await (await rig.answering()).call(request(), { signal: never() })).stopReason).toBe('tool_use')
  })
}
