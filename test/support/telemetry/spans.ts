import { expect } from 'vitest'
import { spansOfRun } from '../../../api/operations/telemetry/run-spans.ts'
import type { Span, SpanOptions } from '../../../domain/calls/telemetry.ts'
import { idOf } from '../../../domain/log/owner.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'

export interface Stores {
  readonly log: EventLog
  readonly blobs: BlobStore
}

const PLAIN: SpanOptions = { content: false, adopt: false }

export async function spansIn(stores: Stores, runId: string, options: Partial<SpanOptions> = {}): Promise<Span[]> {
  const spans: Span[] = []
  for await (const page of spansOfRun(stores, runId, { ...PLAIN, ...options })) spans.push(...page)
  return spans
}

/** The runs of a log, of keepup's agents and of external agents. */
export async function runsIn({ log }: Stores): Promise<string[]> {
  const runs: string[] = []
  for (const prefix of ['agent-', 'external-'])
    for await (const page of log.streams(prefix))
      for (const stream of page)
        for await (const [first] of log.read(stream, { limit: 1, bodies: false }))
          if (first?.header.runId === idOf(stream)) runs.push(idOf(stream))
  return runs
}

export const isContainer = ({ attributes }: Span): boolean =>
  /^invoke_/.test(String(attributes['gen_ai.operation.name']))

/** The laws of all spans of a run. */
export function expectSound(spans: readonly Span[], runId: string): void {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  expect(ids.size, 'a span of its own for each operation').toBe(spans.length)
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(spans.filter(({ parentSpanId }) => parentSpanId === null)).toHaveLength(1)
  for (const span of spans) {
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
    expect(span.end, span.name).toBeGreaterThanOrEqual(span.start)
    if (span.parentSpanId !== null) expect(ids, `the parent of ${span.name}`).toContain(span.parentSpanId)
    expect(span.attributes['session.id']).toBe(runId)
    expect(span.error === null).toBe(span.attributes['error.type'] === undefined)
  }
}

/** Sums and counts of a run's events that its spans must repeat. */
export async function countsIn({ log, blobs }: Stores, runId: string) {
  let [answers, nanoDollars, results] = [0, 0, 0]
  for await (const page of log.streams('agent-'))
    for (const stream of page) {
      const started = new Set<string>()
      for await (const events of log.read(stream))
        for (const event of events) {
          if (event.header.runId !== runId) continue
          const { type, toolCallId = '' } = event.header
          const body = await bodyOf(event, blobs)
          if (type === 'model_call_end') answers += 1
          if (type === 'model_call_end' || type === 'model_attempt_lost') nanoDollars += Number(body?.nanoDollars ?? 0)
          if (type === 'tool_call_start') started.add(toolCallId)
          if (type === 'tool_call_end' && started.has(toolCallId)) results += 1
        }
    }
  return { answers, nanoDollars, results }
}

async function bodyOf(
  event: { body: Uint8Array | null; header: { runId?: string | undefined; body: { hash: string } } },
  blobs: BlobStore,
) {
  const bytes = event.body ?? (await blobs.get(event.header.runId ?? '', event.header.body.hash).catch(() => null))
  return bytes && (JSON.parse(Buffer.from(bytes.subarray(16)).toString()) as { nanoDollars?: number })
}
