import { z } from 'zod'

// These names and shapes are part of the storage format: spans are stored in `spans_reported` (events.ts).

const text = z.string().min(1)
const count = z.int().nonnegative()
const spanId = z.string().regex(/^[0-9a-f]{16}$/)

/** `model`: a call of a model; `tool`: a call of a tool. An agent's own span sums up the spans below it. */
export const SPAN_KINDS = ['agent', 'model', 'tool', 'other'] as const
export type SpanKind = (typeof SPAN_KINDS)[number]

/** The operations of model calls, by their GenAI names. */
export const MODEL_OPERATIONS = ['chat', 'text_completion', 'generate_content', 'embeddings'] as const
export type ModelOperation = (typeof MODEL_OPERATIONS)[number]

/** Programs may report a sentence in place of the name of a model, a tool or an error. */
export const isName = (text: string | undefined): text is string => text !== undefined && /^[\w.:/-]{1,128}$/.test(text)

/** The tokens of one model call. `input` includes the tokens of the cache. Null: the span does not report the count. */
const SpanUsage = z.strictObject({
  input: count.nullable(),
  output: count.nullable(),
  cacheRead: count.nullable(),
  cacheWrite: count.nullable(),
  /** Null: neither the span nor the price list has a cost. `priced`: computed from the tokens, not reported. */
  cost: z.strictObject({ nanoDollars: count, priced: z.literal(true).optional() }).nullable(),
})
export type SpanUsage = z.infer<typeof SpanUsage>

/**
 * A span as a program reported it. Times are microseconds since the epoch, from the clock of that program. Names and
 * figures come from the attributes, which are stored as well.
 */
export const ReportedSpan = z.strictObject({
  /** The number of the span in its run, from 0. The report of an open span and the report of its end have one number. */
  n: count,
  spanId,
  /** Absent: the span is a root of its trace. */
  parentSpanId: spanId.optional(),
  /** Another process has the parent. */
  remote: z.literal(true).optional(),
  name: z.string(),
  kind: z.enum(SPAN_KINDS),
  /** Only of a model call. */
  operation: z.enum(MODEL_OPERATIONS).optional(),
  /** The resource's `service.name`. */
  service: text.optional(),
  /** The instrumentation that made the span. */
  scope: text.optional(),
  conversation: text.optional(),
  startUs: count,
  /** Absent: the span is still open. */
  endUs: count.optional(),
  error: z.strictObject({ type: text, message: text.optional() }).optional(),
  model: text.optional(),
  tool: text.optional(),
  /** The model's id of the tool call. */
  callId: text.optional(),
  usage: SpanUsage.optional(),
  attributes: z.record(z.string(), z.json()).optional(),
  events: z
    .array(z.strictObject({ name: z.string(), atUs: count, attributes: z.record(z.string(), z.json()).optional() }))
    .optional(),
  /** How many attributes and events were left out, here or by the sender. */
  dropped: count.optional(),
})
export type ReportedSpan = z.infer<typeof ReportedSpan>

/** A span without its number. */
export type UnnumberedSpan = Omit<ReportedSpan, 'n'>
