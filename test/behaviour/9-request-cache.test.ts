import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { call, calls, completes, says, testModel } from '../support/harness.ts'
import { MemoryRequestCache } from '../support/models/memory-request-cache.ts'
import { given, type Said, tool } from '../support/story.ts'
import { VirtualClock } from '../support/time/virtual-clock.ts'

const price = { asOf: 'now', input: 1_000_000_000, output: 2_000_000_000, cacheRead: 0, cacheWrite: 0 }
const models = { requested: 'm', safeDefault: 'm', known: [{ ...testModel, id: 'm', price }], cache: true }
const answers = [calls(call('look', { n: 1 })), completes()]

async function runs(cache: MemoryRequestCache, more: { spec?: object; task?: string; says?: readonly Said[] } = {}) {
  const clock = new VirtualClock()
  const told: string[] = []
  const feed = { publish: ({ text }: { text: string }) => void told.push(text) }
  const spec = { models, ...more.spec }
  const tools = [tool('look')]
  const run = await given({
    says: more.says ?? answers,
    tools,
    spec,
    ports: { clock, cache, feed },
    ...(more.task && { task: more.task }),
  })
  await run.drive()
  return { ...run, told }
}

describe('9 the request cache', () => {
  test('the same request of another run has the same answer, recorded, and billed 0', async () => {
    const cache = new MemoryRequestCache()
    const first = await runs(cache)
    expect(first.requests).toHaveLength(2)
    const second = await runs(cache)
    expect(second.requests).toHaveLength(0)
    expect(await second.drive()).toEqual({ end: 'done' })
    const ends = (await second.of('model_call_end')).map(({ body }) => body)
    for (const end of ends) {
      expect(end).toMatchObject({ nanoDollars: 0, usage: { input: 0, output: 0 }, cached: { input: 10, output: 5 } })
    }
    expect((await second.state()).spent).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, nanoDollars: 0 })
    expect((await first.state()).spent.nanoDollars).toBeGreaterThan(0)
    expect((await second.runtime.verify(second.runId)).problems).toEqual([])
  })

  test('a run that does not want it neither takes nor gives answers', async () => {
    const cache = new MemoryRequestCache()
    const { cache: _, ...plain } = models
    await runs(cache, { spec: { models: plain } })
    expect(cache.held.size).toBe(0)
    await runs(cache)
    expect((await runs(cache, { spec: { models: plain } })).requests).toHaveLength(2)
  })

  test.each([
    ['task', { task: 'do it!' }],
    ['instructions', { spec: { instructions: 'Be brief' } }],
    [
      'length of the answer',
      { spec: { models: { ...models, known: [{ ...models.known[0], maxOutputTokens: 4_095 }] } } },
    ],
    ['provider', { spec: { models: { ...models, known: [{ ...models.known[0], provider: 'other' }] } } }],
  ])('any other byte of the request is another request: the %s', async (_, more) => {
    const cache = new MemoryRequestCache()
    await runs(cache)
    expect((await runs(cache, more)).requests).toHaveLength(2)
  })

  test('what was refused or cut off is asked for again', async () => {
    const cache = new MemoryRequestCache()
    await runs(cache, { says: [{ content: [], stopReason: 'refusal' }] })
    await runs(cache, {
      says: [{ ...says('long'), cut: 'bytes' }, completes()],
      spec: { limits: { maxTurns: 2, wallClockMs: null } },
    })
    expect([...cache.held.values()].filter((text) => text.includes('refusal') || text.includes('"cut"'))).toEqual([])
  })

  test('a hit is told as it was streamed, and an erasure clears the cache', async () => {
    const cache = new MemoryRequestCache()
    const spoken: Said[] = [
      { content: [{ type: 'text', text: 'I look.' }, call('look')], stopReason: 'tool_use' },
      completes(),
    ]
    const first = await runs(cache, { says: spoken })
    expect((await runs(cache, { says: spoken })).told.join('')).toBe('I look.')
    const erase = { kind: 'erase', all: true, reason: 'asked' } as const
    await first.say(erase)
    expect(cache.held.size).toBe(0)
  })

  test.each([
    ['unreadable', (cache: MemoryRequestCache) => cache.spoil('{"no":1')],
    ['of no shape', (cache: MemoryRequestCache) => cache.spoil('{"content":3}')],
    ['broken', (cache: MemoryRequestCache) => cache.breakDown(new Error('no disk'))],
  ])('a cache that is %s has no answers', async (_, spoil) => {
    const cache = new MemoryRequestCache()
    await runs(cache)
    spoil(cache)
    const run = await runs(cache)
    expect(run.requests).toHaveLength(2)
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('a hit changes nothing but the bill', async () => {
    const step = fc.constantFrom('look', 'two', 'text', 'wrong', 'long')
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 5 }),
        fc.constantFrom('interactive', 'batch'),
        async (steps, mode) => {
          const said = [...steps.map((what) => SAID[what]!), completes()]
          const cache = new MemoryRequestCache()
          const spec = { policy: { mode } }
          const [first, second] = [await runs(cache, { says: said, spec }), await runs(cache, { says: said, spec })]
          expect(second.requests).toHaveLength(0)
          expect((await second.events()).map(withoutBill)).toEqual((await first.events()).map(withoutBill))
        },
      ),
      { numRuns: 25 },
    )
  })
})

const SAID: Readonly<Record<string, Said>> = {
  look: calls(call('look', { deep: [1, { a: 'é' }] })),
  two: calls(call('look', { n: 1 }, 'a'), call('look', { n: 2 }, 'b')),
  text: { content: [{ type: 'text', text: 'thinking' }, call('look')], stopReason: 'max_tokens' },
  wrong: calls(call('nothing_such')),
  long: {
    content: [{ type: 'thinking', thinking: 'x'.repeat(2_000), signature: 's' } as never, call('look')],
    stopReason: 'tool_use',
  },
}

/** Members that may differ: the bill, the time, and the identity of the run. */
function withoutBill({ type, body, turn }: AgentEvent): unknown {
  const text = JSON.stringify(body, (key, value) => (OF_THE_BILL.has(key) ? undefined : value))
  return { type, turn, body: text.replaceAll(/[0-9a-z]{16,}/g, '#') }
}

const OF_THE_BILL: ReadonlySet<string> = new Set(['usage', 'nanoDollars', 'cached', 'durationMs'])
