import { describe, expect, it, test } from 'vitest'
import type { ExternalBodyOf } from '../../../domain/external/events.ts'
import { NO_SPANS, type SpanEntry, withSpans, wrappersOf } from '../../../domain/external/reported/book.ts'
import type { OtlpSpan } from '../../../domain/external/reported/otlp-span.ts'
import { readSpan } from '../../../domain/external/reported/read-span.ts'
import { reportedSpans } from '../../../domain/external/reported/telemetry.ts'
import { boundedUsage, NOTHING_SPENT } from '../../../domain/external/reported/usage.ts'
import { Run } from '../../support/external/decider.ts'
import { chat, NOW, otlpSpan, PRICE, spanId, stored, TRACE, tool } from '../../support/external/otlp-spans.ts'

// Bounds and figures of reported spans, and their order in a run.

const report = (...spans: readonly OtlpSpan[]) =>
  ({ kind: 'report', traceId: TRACE, spans: spans.map((span) => stored(span)) }) as const
const batches = (run: Run) =>
  run.events.flatMap(({ type, body }) => (type === 'spans_reported' ? [body as ExternalBodyOf<'spans_reported'>] : []))

describe('a stored span', () => {
  it('has bounded names, messages and events, and counts what it leaves out', () => {
    const event = { name: 'e', atNano: 1n, attributes: {} }
    const large = { ...event, attributes: { long: 'x'.repeat(16 * 1024), short: 'y' } }
    const span = stored(
      otlpSpan(1, null, {
        ...{ name: 'n'.repeat(300), status: { code: 2, message: 'm'.repeat(5_000) }, dropped: 2.5 },
        events: [large, ...Array.from({ length: 65 }, () => event)],
      }),
    )
    expect([span.name.length, span.error!.message!.length]).toEqual([256, 4_096])
    expect(span.events).toHaveLength(64)
    expect(span.events![0]!.attributes).toEqual({ short: 'y' })
    // Two by the sender, two events, and one attribute of an event.
    expect(span.dropped).toBe(5)
    expect(stored(otlpSpan(1, null, { dropped: -1 })).dropped).toBeUndefined()
    const keys = Object.fromEntries([1, 2, 3].map((n) => [`${n}`.repeat(60_000), '']))
    expect(Object.keys(stored(otlpSpan(1, null, { attributes: keys })).attributes!)).toHaveLength(2)
  })

  it('has a remote parent only if both flags say so, and only if it has a parent', () => {
    const remote = [0x100, 0x200, 0x300].map((flags) => stored(otlpSpan(2, 1, { flags })).remote)
    expect(remote).toEqual([undefined, undefined, true])
    expect(stored(otlpSpan(1, null, { flags: 0x300 })).remote).toBeUndefined()
  })

  it('names its tool and model by its kind', () => {
    const of = (attributes: OtlpSpan['attributes']) => stored(otlpSpan(1, null, { name: 'look', attributes }))
    expect(of({ 'gen_ai.operation.name': 'execute_tool' }).tool).toBe('look')
    expect(of({ 'gen_ai.operation.name': 'chat', 'tool.name': 't' }).tool).toBeUndefined()
    expect(of({ 'gen_ai.operation.name': 'plan', 'llm.model_name': 'm' }).model).toBeUndefined()
  })

  it('has usage only as an ended call of a model', () => {
    expect(stored(otlpSpan(1, null, { attributes: chat('m', 1, 1), endNano: 0n })).usage).toBeUndefined()
    expect(
      stored(otlpSpan(1, null, { attributes: { ...tool('t'), 'llm.token_count.prompt': 1 } })).usage,
    ).toBeUndefined()
  })

  it('is well-formed text, and an event after all times is at the start of the span', () => {
    const events = [{ name: '\ud800', atNano: 2n ** 64n - 1n, attributes: { a: '\udc00' } }]
    const span = stored(otlpSpan(1, null, { name: 'a\ud800', attributes: { b: '\ud800' }, events }))
    expect(span).toMatchObject({ name: 'a\ufffd', attributes: { b: '\ufffd' } })
    expect(span.events).toEqual([{ name: '\ufffd', atUs: span.startUs, attributes: { a: '\ufffd' } }])
  })

  test.each([
    ['a long trace id', { traceId: '1'.repeat(34) }],
    ['a start after all times', { startNano: 2n ** 64n - 1n, endNano: 0n }],
  ])('is refused with %s', (_, more) =>
    expect(readSpan(otlpSpan(1, null, more), NOW, () => null)).toMatchObject({ fault: expect.any(String) }),
  )
})

describe('the figures of a call', () => {
  const usage = (more: object, price = PRICE) =>
    boundedUsage(
      stored(otlpSpan(1, null, { attributes: { ...chat('m', 10, 5), ...more } }), price).usage!,
      NOTHING_SPENT,
    )
  const cached = { ...PRICE, cacheRead: 3_000_000, cacheWrite: 7_000_000 }
  const READ = 'gen_ai.usage.cache_read.input_tokens'
  const WRITE = 'gen_ai.usage.cache_write.input_tokens'

  it('are unknown if they are impossible', () => {
    expect(usage({ [READ]: 2e12 })).toEqual({
      input: null,
      output: null,
      cacheRead: null,
      cacheWrite: null,
      cost: null,
    })
    expect(usage({ 'llm.cost.total': 10_001 })).toMatchObject({ input: 10, cost: null })
    const dear = { ...PRICE, output: Number.MAX_SAFE_INTEGER }
    expect(usage({ 'gen_ai.usage.output_tokens': 9e11 }, dear)).toMatchObject({ output: 9e11, cost: null })
  })

  test.each([
    [4, 3, 3 * 1 + 4 * 3 + 3 * 7],
    // More than the input: the input does not include them.
    [40, 3, 10 * 1 + 40 * 3 + 3 * 7],
    [4, 30, 10 * 1 + 4 * 3 + 30 * 7],
  ])('price %s tokens read from a cache and %s written to it', (read, write, input) =>
    expect(usage({ [READ]: read, [WRITE]: write }, cached).cost).toEqual({ nanoDollars: input + 5 * 2, priced: true }),
  )
})

describe('the reports of a run', () => {
  it('are stored in batches of a bounded size, and a span is in one batch', () => {
    const large = (n: number) => otlpSpan(n, 9, { attributes: { text: 'x'.repeat(120_000) } })
    const run = new Run(report(large(1), large(2), large(3)))
    expect(batches(run).map(({ spans }) => spans.length)).toEqual([2, 1])
    const twice = new Run(report(otlpSpan(1, 9), otlpSpan(1, 9)))
    expect(batches(twice).map(({ spans }) => spans.map(({ n }) => n))).toEqual([[0]])
  })

  it('fill a batch up to its bound, and a span above the bound has a batch of its own', () => {
    const sized = (n: number, bytes: number) =>
      ({ n, spanId: spanId(n + 1), name: 's'.repeat(bytes), kind: 'other', startUs: 1 }) as const
    const empty = JSON.stringify(sized(0, 0)).length
    const sizesOf = (...bytes: readonly number[]) => {
      const spans = bytes.map((size, n) => sized(n, size - empty))
      return batches(new Run({ kind: 'report', traceId: TRACE, spans })).map((batch) => batch.spans.length)
    }
    const most = 256 * 1024
    expect(sizesOf(most / 2, most / 2)).toEqual([2])
    expect(sizesOf(most / 2, most / 2 + 1)).toEqual([1, 1])
    expect(sizesOf(most + 1)).toEqual([1])
    expect(sizesOf(most + 1, most / 2, most / 2, 200)).toEqual([1, 2, 1])
    // The first span of a later batch counts towards that batch.
    expect(sizesOf(most, most, 200)).toEqual([1, 1, 1])
    expect(sizesOf(...Array.from({ length: 257 }, () => 200))).toEqual([256, 1])
  })

  it('list wrappers by number', () => {
    const call = { attributes: chat('m', 10, 5) }
    // The wrapper of the first call arrives after that of the second one.
    const run = new Run(report(otlpSpan(4, 3, call), otlpSpan(1, 9, call), otlpSpan(3, 9, call), otlpSpan(2, 1, call)))
    expect(batches(run).map(({ wrappers }) => wrappers)).toEqual([[1, 2]])
  })

  it('end the run as the person or program that reported its root', () => {
    const run = new Run(report(otlpSpan(2, 1)))
    run.by = { kind: 'user', id: 'ada' }
    const drafts = run.decide(report(otlpSpan(1, null)))
    expect(drafts.map(({ event }) => [event.type, event.actor])).toEqual([
      ['spans_reported', run.by],
      ['external_ended', run.by],
    ])
  })

  it('record an open span once', () => {
    const open = otlpSpan(1, null, { endNano: 0n })
    const run = new Run(report(open))
    expect(run.decide(report(open))).toEqual([])
  })

  it('keep the root, and name a conversation once', () => {
    const attributes = { 'session.id': 'c1' }
    const run = new Run(report(otlpSpan(1, null, { attributes })), report(otlpSpan(2, 1)))
    expect(run.state!.reported!.root).toBe(0)
    expect(batches(run).map(({ session }) => session?.id)).toEqual(['c1', undefined])
  })

  it('have the earlier of two roots, and a root of the trace before one below another process', () => {
    const below = otlpSpan(1, 9, { flags: 0x300, name: 'below' })
    const roots = new Run(report(below, otlpSpan(3, null), otlpSpan(2, null)))
    expect(batches(roots).at(-1)!.root).toBe(2)
    const same = otlpSpan(3, null).startNano
    const equal = new Run(report(otlpSpan(3, null), otlpSpan(2, null, { startNano: same })))
    expect(batches(equal).at(-1)!.root).toBe(1)
  })

  it('bound the final text', () => {
    const run = new Run(report(otlpSpan(1, null, { attributes: { 'output.value': 'x'.repeat(100_000) } })))
    const ended = run.events.find(({ type }) => type === 'external_ended')!
    expect(ended.body).toMatchObject({ finalText: expect.stringMatching(/^x{60000,65536}$/) })
  })

  it('do not skip a number', () => {
    const [{ spans }] = batches(new Run(report(otlpSpan(1, null)))) as [ExternalBodyOf<'spans_reported'>]
    const at = (n: number) => withSpans(NO_SPANS, { spans: [{ ...spans[0]!, n }], fromUs: 0 })
    expect([at(0)?.count, at(1)]).toEqual([1, null])
  })
})

test('a wrapper is at most 64 spans above its call', () => {
  const entry = (n: number, kind: SpanEntry['kind']): SpanEntry => ({
    ...{ n, id: spanId(n + 1), parent: n === 0 ? null : spanId(n), remote: 0, kind },
    ...{ startUs: 0, endUs: 1, call: kind === 'model' ? 'generation m' : null, tokens: kind === 'model' ? 1 : 0 },
  })
  const chain = (others: number) => {
    const all = [entry(0, 'model'), ...Array.from({ length: others }, (_, n) => entry(n + 1, 'other'))]
    return wrappersOf(new Map([...all, entry(others + 1, 'model')].map((one) => [one.id, one])))
  }
  expect([[...chain(2)], [...chain(63)], [...chain(64)]]).toEqual([[0], [0], []])
})

describe('an exported span', () => {
  const run = { runId: 'r', traceId: 't', parentSpanId: null, link: null, user: null, content: false }
  const exported = (
    more: Partial<OtlpSpan>,
    { content = false, erased = false, wrappers = new Set<number>() } = {},
  ) => {
    const span = { ...stored(otlpSpan(2, 1, more)), n: 0 }
    const event = { id: 'e', stream: 's', revision: 1, erased }
    return reportedSpans({ ...run, content }, [{ span, event }], wrappers, 'agent')[0]!
  }
  const call = { ...chat('m', 10, 5), 'gen_ai.usage.cache_read.input_tokens': 4, 'llm.cost.total': 0.5 }

  it('has the figures of a call, unless another span reports them too', () => {
    const { kind, attributes, parentSpanId } = exported({ attributes: call })
    expect([kind, parentSpanId]).toEqual(['client', 'agent'])
    expect(attributes).toMatchObject({
      ...{ 'gen_ai.request.model': 'm', 'gen_ai.response.model': 'm', 'keepup.governed': false },
      ...{
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.cache_read.input_tokens': 4,
        'gen_ai.usage.output_tokens': 5,
      },
      ...{ 'llm.cost.total': { double: 0.5 }, 'gen_ai.usage.cost': { double: 0.5 } },
    })
    expect(exported({ attributes: call }, { wrappers: new Set([0]) }).attributes).not.toHaveProperty([
      'gen_ai.usage.input_tokens',
    ])
  })

  it('has sentences in place of names only with content, and not after an erasure', () => {
    const given = { name: 'a name', attributes: tool('what a person said'), status: { code: 2, message: 'm' } }
    const failed = { ...given, attributes: { ...given.attributes, 'error.type': 'a type' } }
    const [hidden, shown] = [exported(failed), exported(failed, { content: true })]
    expect([hidden.name, hidden.kind, shown.name]).toEqual(['execute_tool', 'internal', 'a name'])
    expect(hidden.attributes).not.toHaveProperty(['gen_ai.tool.name'])
    expect(hidden.attributes).toMatchObject({ 'error.type': 'error' })
    expect(shown.attributes).toMatchObject({ 'gen_ai.tool.name': 'what a person said', 'error.type': 'a type' })
    expect([hidden.error, exported({}).error]).toEqual([expect.anything(), null])
    expect(exported(failed, { content: true, erased: true }).name).toBe('execute_tool')
  })
})
