import type { OtlpSpan } from '../../../domain/external/reported/otlp-span.ts'
import { readSpan } from '../../../domain/external/reported/read-span.ts'
import type { UnnumberedSpan } from '../../../domain/external/reported/span.ts'
import type { Price } from '../../../domain/tree/spec.ts'

export const TRACE = '0af7651916cd43dd8448eb211c80319c'

/** The id of the n-th span of a test, from 1. */
export const spanId = (n: number): string => n.toString(16).padStart(16, '0')

const START = 1_790_000_000_000_000_000n

/** When the spans of a test arrive, in ms. */
export const NOW = Number(START / 1_000_000n) + 60_000

/** A span of one second that begins `n` ms after the others. */
export const otlpSpan = (n: number, parent: number | null, more: Partial<OtlpSpan> = {}): OtlpSpan => ({
  ...{ traceId: TRACE, spanId: spanId(n), parentSpanId: parent === null ? '' : spanId(parent), flags: 1 },
  ...{ name: `span ${n}`, attributes: {}, events: [], status: { code: 0, message: '' }, dropped: 0 },
  ...{ service: 'shop', instance: '', scope: 'tests' },
  startNano: START + BigInt(n) * 1_000_000n,
  endNano: START + BigInt(n) * 1_000_000n + 1_000_000_000n,
  ...more,
})

export const chat = (model: string, input: number, output: number) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.response.model': model,
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
})

export const tool = (name: string) => ({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name })

/** In nano-dollars per million tokens: 1 nano-dollar for each token of input, 2 for each of output. */
export const PRICE: Price = {
  ...{ asOf: '2026-01-01', input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 1_000_000 },
}

/** The stored form of a span. */
export function stored(span: OtlpSpan, price: Price | null = PRICE): UnnumberedSpan {
  const read = readSpan(span, NOW, () => price)
  if ('fault' in read) throw new Error(read.fault)
  return read.span
}
