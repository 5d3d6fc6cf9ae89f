import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { external } from '../../../domain/external/aggregate.ts'
import type { ExternalBodyOf, ExternalEvent } from '../../../domain/external/events.ts'
import { owedExternal } from '../../../domain/external/owed.ts'
import { kindOf, usageOf } from '../../../domain/external/reported/conventions.ts'
import { MAX_SPANS } from '../../../domain/external/reported/decide.ts'
import type { OtlpSpan } from '../../../domain/external/reported/otlp-span.ts'
import { readSpan } from '../../../domain/external/reported/read-span.ts'
import type { UnnumberedSpan } from '../../../domain/external/reported/span.ts'
import { recordedSpans, reportedSpans } from '../../../domain/external/reported/telemetry.ts'
import { ExternalSpans } from '../../../domain/external/telemetry.ts'
import { Run } from '../../support/external/decider.ts'
import { chat, NOW, otlpSpan, spanId, stored, TRACE, tool } from '../../support/external/otlp-spans.ts'
import { property } from '../../support/property.ts'

const report = (...spans: readonly OtlpSpan[]) =>
  ({ kind: 'report', traceId: TRACE, spans: spans.map((span) => stored(span)) }) as const
const typesOf = (run: Run) => run.events.map(({ type }) => type)
const last = <T extends ExternalEvent['type']>(run: Run, type: T) =>
  run.events.findLast((event) => event.type === type)?.body as ExternalBodyOf<T> | undefined

/** What the reports of a run say together, by the ids of the spans: their numbers depend on the order. */
function summaryOf(run: Run) {
  const batches = run.events.flatMap((event) => (event.type === 'spans_reported' ? [event.body] : []))
  const byNumber = new Map(batches.flatMap(({ spans }) => spans.map((span) => [span.n, span] as const)))
  const { fromUs, toUs } = batches.at(-1)!
  const idOf = (n: number) => byNumber.get(n)?.spanId
  const outcomes = run.events.flatMap((event) =>
    event.type === 'external_ended' || event.type === 'outcome_learned' ? [event.body] : [],
  )
  return {
    spans: Object.fromEntries([...byNumber.values()].map(({ n: _, ...span }) => [span.spanId, span])),
    ...{ fromUs, toUs, outcome: outcomes.at(-1), sessionId: run.state!.sessionId },
    root: batches.flatMap(({ root }) => (root === undefined ? [] : [idOf(root)])).at(-1),
    wrappers: [...run.state!.reported!.wrappers].map(idOf).sort(),
  }
}

const attributes = fc.constantFrom(
  chat('m', 10, 5),
  chat('n', 7, 0),
  tool('search'),
  { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': 'c1' },
  { 'openinference.span.kind': 'CHAIN', 'session.id': 'c2', 'output.value': 'said' },
)

/** A forest of spans: a parent is an earlier span, one that is never reported, or none. Some are reported open first. */
const trace = fc
  .array(
    fc.record({
      attributes,
      parent: fc.option(fc.nat(12)),
      remote: fc.boolean(),
      fails: fc.boolean(),
      opens: fc.boolean(),
      startsAt: fc.nat(3),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((given) =>
    given.flatMap(({ attributes, parent, remote, fails, opens, startsAt }, at) => {
      const n = at + 1
      const startNano = otlpSpan(startsAt, null).startNano
      const span = otlpSpan(n, parent === null || parent === n ? null : parent + 1, {
        ...{ attributes, startNano, flags: remote ? 0x300 : 0x100 },
        ...(fails && { status: { code: 2, message: `failed ${n}` } }),
      })
      return opens ? [{ ...span, endNano: 0n }, span] : [span]
    }),
  )

test('any split, order and repetition of the reports of a trace gives the same run', () => {
  fc.assert(
    fc.property(
      trace.chain((spans) =>
        fc.tuple(
          fc.constant(spans),
          fc.shuffledSubarray([...spans, ...spans], { minLength: spans.length * 2 }),
          fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 20, maxLength: 20 }),
        ),
      ),
      ([spans, shuffled, sizes]) => {
        const whole = new Run(report(...spans))
        const parts = new Run()
        for (let at = 0, i = 0; at < shuffled.length; at += sizes[i++ % sizes.length]!)
          parts.decide(report(...shuffled.slice(at, at + sizes[i % sizes.length]!)))
        for (const span of spans) parts.decide(report(span))
        expect(summaryOf(parts)).toEqual(summaryOf(whole))
        const state = parts.events.reduce(external.evolve, null as unknown as NonNullable<Run['state']>)
        expect(state).toStrictEqual(parts.state)
        expect(JSON.parse(JSON.stringify(state))).toStrictEqual(state)
        expect(external.digest(JSON.parse(JSON.stringify(state)))).toBe(external.digest(state))
        // No driver is to take the run.
        expect([owedExternal(state), external.wakeAt(state)]).toEqual([[], null])
        // A repeated report records nothing.
        expect(parts.decide(report(...shuffled))).toEqual([])
      },
    ),
    property(150),
  )
})

describe('the end of a reported run', () => {
  it('is that of its root span, and later spans are recorded after it', () => {
    const run = new Run(report(otlpSpan(2, 1, { attributes: tool('search') })))
    expect([run.state!.stage.at, last(run, 'spans_reported')?.toUs]).toEqual(['running', undefined])
    run.decide(report(otlpSpan(1, null, { attributes: { 'output.value': 'the answer' } })))
    run.decide(report(otlpSpan(3, 1)))
    expect(typesOf(run)).toEqual([
      ...['external_started', 'spans_reported', 'spans_reported', 'external_ended', 'spans_reported'],
    ])
    expect(last(run, 'external_ended')).toMatchObject({ outcome: 'exited', success: true, finalText: 'the answer' })
  })

  it('is a failure if the root failed, with its message', () => {
    const run = new Run(report(otlpSpan(1, null, { status: { code: 2, message: 'no luck' } })))
    expect(last(run, 'external_ended')).toMatchObject({ outcome: 'failed', error: { message: 'no luck' } })
  })

  it('waits for an open root, and takes a root below another process if there is no other one', () => {
    const run = new Run(report(otlpSpan(2, null, { endNano: 0n })))
    expect(run.state!.stage.at).toBe('running')
    run.decide(report(otlpSpan(3, 9, { flags: 0x300, status: { code: 2, message: 'below' } })))
    expect(last(run, 'external_ended')).toMatchObject({ outcome: 'failed' })
    run.decide(report(otlpSpan(2, null)))
    expect(last(run, 'outcome_learned')).toMatchObject({ outcome: 'exited', success: true })
    expect(last(run, 'spans_reported')?.spans[0]?.n).toBe(0)
  })

  it('is unknown after a person closes a run without a root, until the root arrives', () => {
    const run = new Run(report(otlpSpan(2, 1)))
    run.decide({ kind: 'cancel', reason: 'enough' })
    expect(last(run, 'external_ended')).toMatchObject({ outcome: 'unknown' })
    run.decide(report(otlpSpan(1, null)))
    expect(last(run, 'outcome_learned')).toMatchObject({ outcome: 'exited' })
  })
})

describe('two instrumentations of one model call', () => {
  it('count once: the outer call is a wrapper, also if it arrives first or with a span between them', () => {
    const call = { attributes: chat('m', 10, 5) }
    const spans = [otlpSpan(1, null), otlpSpan(2, 1, call), otlpSpan(3, 2), otlpSpan(4, 3, call)]
    for (const order of [spans, spans.toReversed()]) {
      const run = new Run()
      for (const span of order) run.decide(report(span))
      expect(summaryOf(run).wrappers).toEqual([spanId(2)])
    }
  })

  const outer = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
  test.each([
    ['the outer call has no tokens', outer, chat('inner', 10, 5), [2]],
    ['the inner call has no tokens', chat('m', 10, 5), outer, []],
    ['the models differ', chat('m', 10, 5), chat('n', 10, 5), []],
    ['the operations differ', chat('m', 10, 5), { ...chat('m', 10, 0), 'gen_ai.operation.name': 'embeddings' }, []],
    ['the models are sentences', chat('my model', 10, 5), chat('my model', 10, 5), [2]],
  ])('if %s', (_, above, below, wrappers) => {
    const spans = [otlpSpan(2, 1, { attributes: above }), otlpSpan(3, 2, { attributes: below })]
    for (const order of [spans, spans.toReversed()]) {
      const run = new Run()
      for (const span of order) run.decide(report({ ...span, endNano: 0n }))
      for (const span of order) run.decide(report(span))
      expect(summaryOf(run).wrappers).toEqual(wrappers.map(spanId))
    }
  })

  it('count once if there are three', () => {
    const spans = [chat('m', 1, 1), outer, chat('m', 1, 1)].map((attributes, n) =>
      otlpSpan(n + 2, n + 1, { attributes }),
    )
    expect(summaryOf(new Run(report(...spans))).wrappers).toEqual([2, 3].map(spanId))
  })

  it('count twice with a tool or an agent between them', () => {
    const call = { attributes: chat('m', 10, 5) }
    const run = new Run(
      report(otlpSpan(1, null, call), otlpSpan(2, 1, { attributes: tool('ask') }), otlpSpan(3, 2, call)),
    )
    expect(run.state!.reported!.wrappers).toEqual([])
  })
})

test('a run has a bounded number of spans, and the first ones count', () => {
  const spans = Array.from({ length: MAX_SPANS + 2 }, (_, n): UnnumberedSpan => stored(otlpSpan(n + 1, 1)))
  const run = new Run({ kind: 'report', traceId: TRACE, spans })
  expect(run.state!.reported!.count).toBe(MAX_SPANS)
  expect(run.decide({ kind: 'report', traceId: TRACE, spans: spans.slice(-2) })).toEqual([])
})

test('figures with which a run would have more than any run can use are unknown', () => {
  const most = { 'gen_ai.usage.cost': 6_000 }
  const call = (tokens: number, more: object = {}) => ({ attributes: { ...chat('m', tokens, 0), ...more } })
  const run = new Run(report(otlpSpan(2, 1, call(6e11, most)), otlpSpan(3, 1, call(6e11, most))))
  run.decide(report(otlpSpan(4, 1, call(3e11)), otlpSpan(5, 1, call(3e11))))
  const usages = run.events.flatMap((event) => (event.type === 'spans_reported' ? event.body.spans : []))
  expect(usages.map(({ usage }) => [usage?.input, usage?.cost?.nanoDollars])).toEqual([
    [6e11, 6e12],
    [null, undefined],
    [3e11, 3e11],
    [null, undefined],
  ])
  expect(run.state!.reported!.spent).toEqual({ tokens: 9e11, nanoDollars: 6.3e12 })
})

test('a run of a process takes no spans, and a report starts no run without spans', () => {
  expect(new Run({ kind: 'report', traceId: TRACE, spans: [] }).events).toEqual([])
  const run = new Run({ kind: 'start', backend: 'fake', request: { prompt: 'go' }, capabilities: [] })
  expect(() => run.decide(report(otlpSpan(1, null)))).toThrow(expect.objectContaining({ code: 'RUN_EXISTS' }))
})

test('an erasure leaves the tree of spans with times and figures, without words', () => {
  const secret = 'what a person said'
  const run = new Run(
    report(
      otlpSpan(1, null, {
        ...{ name: secret, service: secret, scope: secret },
        attributes: {
          ...{ ...chat('m', 10, 5), 'input.value': secret, 'gen_ai.conversation.id': secret, 'error.type': secret },
        },
        events: [{ name: secret, atNano: 1n, attributes: {} }],
        status: { code: 2, message: secret },
      }),
    ),
  )
  const event = run.events.find((one) => one.type === 'spans_reported')!
  const residue = external.erasing.residue(event.type, event.body, event.bodyHash) as ExternalBodyOf<'spans_reported'>
  expect(JSON.stringify(residue)).not.toContain(secret)
  expect(run.state!.sessionId).toBe(secret)
  const named = { ...event.body, spans: [{ ...event.body.spans[0]!, kind: 'tool', model: secret, tool: secret }] }
  expect(JSON.stringify(external.erasing.residue(event.type, named, ''))).not.toContain(secret)
  expect(residue.spans[0]).toMatchObject({
    n: 0,
    usage: { input: 10, output: 5 },
    model: 'm',
    error: { type: 'error' },
  })
  const before = run.events.slice(0, 1).reduce(external.evolve, null as unknown as NonNullable<Run['state']>)
  const folded = (body: unknown) => external.evolve(before, { ...event, body } as ExternalEvent)
  expect(folded(residue).reported).toEqual(folded(event.body).reported)
  expect(external.digest(folded(residue))).toBe(external.digest(folded(event.body)))
})

test('an export gives the spans with their own times and parents, below a span of the run', () => {
  const run = new Run(
    report(otlpSpan(3, 2, { attributes: chat('m', 10, 5) }), otlpSpan(2, 1, { attributes: tool('search') })),
    report(otlpSpan(1, null, { name: 'what a person said' }), otlpSpan(4, 1, { endNano: 0n })),
  )
  const of = (content: boolean) => {
    const spans = new ExternalSpans({ runId: 'r', traceId: 't', parentSpanId: null, link: null, user: null, content })
    const events = run.events.map((event) => ({ ...event, id: `e${event.revision}`, stream: 's', erased: false }))
    return [...events.flatMap((event) => spans.add(event)), ...spans.reported(), spans.end(null)!]
  }
  const [model, search, root, agent, ...others] = of(false)
  expect(others).toEqual([])
  expect([model!.parentSpanId, search!.parentSpanId, root!.parentSpanId]).toEqual([
    ...[search!.spanId, root!.spanId, agent!.spanId],
  ])
  expect([model, search, root].map((span) => span!.name)).toEqual(['chat m', 'execute_tool search', 'span'])
  const start = Date.parse('2026-09-21T14:13:20.000Z')
  expect([model, agent].map((span) => [span!.start - start, span!.end - start])).toEqual([
    [3, 1_003],
    [1, 1_003],
  ])
  expect(of(true)[2]!.name).toBe('what a person said')
})

test('an export names embeddings and caches, and needs no attributes of spans', () => {
  const attributes = { 'gen_ai.operation.name': 'embeddings', 'gen_ai.request.model': 'm' }
  const usage = { 'gen_ai.usage.input_tokens': 9, 'gen_ai.usage.cache_write.input_tokens': 4 }
  const run = new Run(report(otlpSpan(2, 1, { attributes: { ...attributes, ...usage } })))
  const event = run.events.find((one) => one.type === 'spans_reported')!
  const whole = { ...event, id: 'e', stream: 's', erased: false }
  const [recorded] = recordedSpans(event.body.spans, whole)
  expect(Object.keys(recorded!.event)).toEqual(['id', 'stream', 'revision', 'erased'])
  expect(recorded!.span).not.toHaveProperty('attributes')
  const of = { runId: 'r', traceId: 't', parentSpanId: null, link: null, user: null, content: false }
  expect(reportedSpans(of, [recorded!], new Set(), null)).toMatchObject([
    {
      name: 'embeddings m',
      attributes: {
        ...{ 'gen_ai.operation.name': 'embeddings', 'openinference.span.kind': 'EMBEDDING' },
        ...{ 'gen_ai.usage.cache_write.input_tokens': 4, 'gen_ai.usage.cache_creation.input_tokens': 4 },
      },
    },
  ])
})

describe('conventions', () => {
  test.each([
    ['GenAI', chat('m', 1, 1), 'model'],
    ['GenAI, embeddings', { 'gen_ai.operation.name': 'embeddings' }, 'model'],
    ['GenAI, tool', tool('x'), 'tool'],
    ['GenAI, agent', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'm' }, 'agent'],
    ['GenAI, another operation', { 'gen_ai.operation.name': 'plan', 'gen_ai.request.model': 'm' }, 'other'],
    ['GenAI before operation names', { 'gen_ai.system': 'openai', 'gen_ai.request.model': 'm' }, 'model'],
    ['OpenInference', { 'openinference.span.kind': 'LLM' }, 'model'],
    ['OpenInference, tool', { 'openinference.span.kind': 'TOOL' }, 'tool'],
    ['OpenInference, chain', { 'openinference.span.kind': 'CHAIN' }, 'other'],
    ['AI SDK, the call', { 'ai.operationId': 'ai.streamText.doStream' }, 'model'],
    ['AI SDK, the sum', { 'ai.operationId': 'ai.streamText', 'gen_ai.request.model': 'm' }, 'agent'],
    ['AI SDK, tool', { 'ai.operationId': 'ai.toolCall' }, 'tool'],
    ['none', { 'http.request.method': 'GET' }, 'other'],
  ])('%s', (_, given, kind) => expect(kindOf(given)).toBe(kind))

  test.each([
    ['GenAI', { 'gen_ai.usage.input_tokens': 9, 'gen_ai.usage.output_tokens': 2 }, [9, 2, null, null]],
    [
      'GenAI with a cache, by both names',
      {
        ...{ 'gen_ai.usage.input_tokens': 9, 'gen_ai.usage.output_tokens': 2 },
        ...{ 'gen_ai.usage.cache_read.input_tokens': 4, 'gen_ai.usage.cache_creation.input_tokens': 1 },
      },
      [9, 2, 4, 1],
    ],
    [
      'GenAI with a cache that the input does not include',
      {
        ...{ 'gen_ai.usage.input_tokens': 9, 'gen_ai.usage.output_tokens': 2 },
        ...{ 'gen_ai.usage.cache_read.input_tokens': 40, 'gen_ai.usage.cache_creation.input_tokens': 1 },
      },
      [50, 2, 40, 1],
    ],
    ['OpenInference', { 'llm.token_count.prompt': 9, 'llm.token_count.completion': 2 }, [9, 2, null, null]],
    ['AI SDK', { 'ai.usage.promptTokens': 9, 'ai.usage.completionTokens': 2 }, [9, 2, null, null]],
    [
      'numbers that are none',
      { 'ai.usage.promptTokens': 'NaN', 'gen_ai.usage.output_tokens': -1 },
      [null, null, null, null],
    ],
  ])('tokens: %s', (_, given, [input, output, cacheRead, cacheWrite]) =>
    expect(usageOf(given)).toEqual({ input, output, cacheRead, cacheWrite, cost: null }),
  )

  test('the reported cost counts before a known price, and without both the cost is unknown', () => {
    const call = (more: object = {}) => otlpSpan(1, null, { attributes: { ...chat('m', 10, 5), ...more } })
    expect(stored(call()).usage?.cost).toEqual({ nanoDollars: 20, priced: true })
    expect(stored(call({ 'llm.cost.total': 0.5 })).usage?.cost).toEqual({ nanoDollars: 500_000_000 })
    expect(stored(call(), null).usage?.cost).toBeNull()
    expect(stored(call({ 'gen_ai.usage.output_tokens': 'NaN' })).usage).toMatchObject({ output: null, cost: null })
  })
})

describe('a span', () => {
  test.each([
    ['a trace id of zeros', { traceId: '0'.repeat(32) }, /trace id/],
    ['a short span id', { spanId: 'abc' }, /span id/],
    ['a parent of zeros', { parentSpanId: '0'.repeat(16) }, /parent/],
    ['no start', { startNano: 0n }, /start time/],
    ['a start before 2015', { startNano: 1n, endNano: 1_790_000_000_000_000_000n }, /2015/],
    ['an end more than an hour ahead', { endNano: BigInt(NOW + 3_600_001) * 1_000_000n }, /hour ahead/],
    [
      'an open start more than an hour ahead',
      { startNano: BigInt(NOW + 3_600_001) * 1_000_000n, endNano: 0n },
      /ahead/,
    ],
  ])('with %s is refused', (_, more, fault) =>
    expect(readSpan(otlpSpan(1, null, more), NOW, () => null)).toMatchObject({ fault: expect.stringMatching(fault) }),
  )

  it('with too many attributes keeps the first ones, counts the others, and is read by all of them', () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`a${n}`, n]))
    const span = stored(otlpSpan(1, null, { dropped: 3, attributes: { ...many, ...chat('m', 10, 5) } }))
    expect(Object.keys(span.attributes!)).toHaveLength(1_024)
    expect(span).toMatchObject({ dropped: 3 + 2_000 + 4 - 1_024, model: 'm', usage: { input: 10 } })
    const long = stored(otlpSpan(1, null, { attributes: { long: 'x'.repeat(200_000), short: 'y' } }))
    expect(long).toMatchObject({ attributes: { short: 'y' }, dropped: 1 })
  })

  it('that ends before it starts ends when it starts', () => {
    const { startUs, endUs } = stored(otlpSpan(1, null, { endNano: 1n }))
    expect(endUs).toBe(startUs)
  })

  it('has the error of its exception, unless the program says that all is well', () => {
    const events = [{ name: 'exception', atNano: 1n, attributes: { 'exception.type': 'E', 'exception.message': 'm' } }]
    expect(stored(otlpSpan(1, null, { events, status: { code: 2, message: '' } })).error).toEqual({
      type: 'E',
      message: 'm',
    })
    expect(
      stored(otlpSpan(1, null, { attributes: { 'error.type': '404' }, status: { code: 1, message: '' } })).error,
    ).toBeUndefined()
  })
})
