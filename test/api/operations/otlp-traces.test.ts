import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { spanBatches } from '../../../api/operations/telemetry/otlp-traces.ts'
import type { Attributes, AttributeValue, Span } from '../../../domain/calls/telemetry.ts'
import { recorded } from '../../support/golden/files.ts'
import { appendAgain } from '../../support/golden/recording.ts'
import { MemoryBlobs } from '../../support/harness.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { runsIn, spansIn } from '../../support/telemetry/spans.ts'

type Serialized = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number]

async function allSpans(): Promise<Span[]> {
  const spans: Span[] = []
  for (const { text } of recorded()) {
    const stores = { log: new MemoryLog({ clock: BEFORE }), blobs: new MemoryBlobs() }
    await appendAgain(text, stores.log, stores.blobs)
    for (const run of await runsIn(stores)) spans.push(...(await spansIn(stores, run, { content: true })))
  }
  return spans
}

async function* pagesOf(spans: readonly Span[]) {
  yield spans
}

interface Scope {
  readonly scope: object
  readonly schemaUrl: string
  readonly spans: readonly { readonly attributes: unknown }[]
}

/** The scope of each batch. */
async function batchesOf(spans: readonly Span[]): Promise<Scope[]> {
  const batches: Scope[] = []
  for await (const { text } of spanBatches('log', pagesOf(spans)))
    batches.push(...(JSON.parse(text) as { scopeSpans: Scope[] }).scopeSpans)
  return batches
}

/** A whole double, which JavaScript cannot tell from an integer, as one that it can. */
const plain = (value: AttributeValue) =>
  typeof value === 'object' && 'double' in value ? value.double || 0.5 : (value as never)
const halves = (attributes: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, of]) => {
      const isDouble = typeof of === 'object' && 'double' in of
      return [key, isDouble ? { double: of.double || 0.5 } : of]
    }),
  )

const time = (ms: number): [number, number] => [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000]
const attributesOf = (attributes: Attributes) =>
  Object.fromEntries(Object.entries(attributes).map(([key, of]) => [key, plain(of)]))

/** The span as OpenTelemetry's SDK holds it. */
function sdkSpan(span: Span, resource: object): Serialized {
  const context = (spanId: string, traceId = span.traceId) => ({ traceId, spanId, traceFlags: 1 })
  return {
    name: span.name,
    kind: span.kind === 'client' ? 2 : 0,
    spanContext: () => context(span.spanId),
    ...(span.parentSpanId !== null && { parentSpanContext: context(span.parentSpanId) }),
    startTime: time(span.start),
    endTime: time(span.end),
    status: span.error === null ? { code: 0 } : { code: 2, message: span.error.message },
    attributes: attributesOf(span.attributes),
    links: span.links.map((link) => ({ context: context(link.spanId, link.traceId), attributes: {} })),
    events: span.events.map(({ name, at, attributes }) => ({
      name,
      time: time(at),
      attributes: attributesOf(attributes),
    })),
    duration: time(span.end - span.start),
    ended: true,
    resource,
    instrumentationScope: { name: 'keepup', version: '0.1.0', schemaUrl: 'https://opentelemetry.io/schemas/1.41.0' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  } as unknown as Serialized
}

/** Members that the SDK writes though they have their initial values, and which have none in our form. */
const INITIAL = /^(dropped\w+Count|flags|traceState|entityRefs)$/

function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).flatMap(([key, of]): [string, unknown][] => {
    if (INITIAL.test(key) || of === undefined) return []
    if ((key === 'events' || key === 'links') && Array.isArray(of) && of.length === 0) return []
    if (key === 'status' && (of as { code: number }).code === 0) return []
    return [[key, key === 'intValue' ? String(of) : normal(of)]]
  })
  return Object.fromEntries(entries)
}

test("every span is written as OpenTelemetry's own exporter writes it", async () => {
  const spans = (await allSpans()).map((span) => ({
    ...span,
    attributes: halves(span.attributes),
    events: span.events.map((event) => ({ ...event, attributes: halves(event.attributes) })),
  }))
  expect(spans.length).toBeGreaterThan(300)
  const ours = (await batchesOf(spans)).flatMap((one) => one.spans)
  const resource = { attributes: {}, schemaUrl: undefined }
  const bytes = JsonTraceSerializer.serializeRequest(spans.map((span) => sdkSpan(span, resource)))
  const theirs = JSON.parse(Buffer.from(bytes!).toString())
  const [{ scope, schemaUrl, spans: written }] = theirs.resourceSpans[0].scopeSpans
  expect(ours.map(normal)).toEqual(written.map(normal))
  const [first] = await batchesOf(spans)
  expect(normal({ scope: first!.scope, schemaUrl: first!.schemaUrl })).toEqual(normal({ scope, schemaUrl }))
})

test('a whole number of dollars stays a double', async () => {
  const [span] = await allSpans()
  const [batch] = await batchesOf([{ ...span!, attributes: { cost: { double: 1 }, tokens: 1 } }])
  expect(batch!.spans[0]!.attributes).toEqual([
    { key: 'cost', value: { doubleValue: 1 } },
    { key: 'tokens', value: { intValue: '1' } },
  ])
})

test('a batch has at most 500 spans and about 2 MB, but any single span', async () => {
  const [span] = await allSpans()
  const many = await batchesOf(Array.from({ length: 1_001 }, () => span!))
  expect(many.map((one) => one.spans.length)).toEqual([500, 500, 1])
  const large = { ...span!, attributes: { text: 'x'.repeat(1_500_000) } }
  expect((await batchesOf([large, large, span!])).map((one) => one.spans.length)).toEqual([1, 2])
  expect(await batchesOf([])).toEqual([])
})
