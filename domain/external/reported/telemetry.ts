import { type Attributes, commonAttributes, type RunSpans, type Span, spanError } from '../../calls/telemetry.ts'
import { spanIdOf } from '../../log/trace-ids.ts'
import { isName, type ReportedSpan, type SpanKind } from './span.ts'

const OPERATIONS: Readonly<Record<SpanKind, string | null>> = {
  agent: 'invoke_agent',
  model: 'chat',
  tool: 'execute_tool',
  other: null,
}
const OPENINFERENCE: Readonly<Record<SpanKind, string>> = {
  agent: 'AGENT',
  model: 'LLM',
  tool: 'TOOL',
  other: 'CHAIN',
}

/** The parts of a span that an export gives, with the event that recorded it. A run may have 10,000 of them. */
export interface RecordedSpan {
  readonly span: Omit<ReportedSpan, 'attributes' | 'events'>
  readonly event: { readonly id: string; readonly stream: string; readonly revision: number; readonly erased: boolean }
}

/** The spans of an event. */
export const recordedSpans = (
  spans: readonly ReportedSpan[],
  { id, stream, revision, erased }: RecordedSpan['event'],
): RecordedSpan[] =>
  spans.map(({ attributes: _, events: __, ...span }) => ({ span, event: { id, stream, revision, erased } }))

/**
 * The spans of a reported run that have ended. Their ids derive from the run and the reported ids. A span without a
 * parent among them is below the span of the run's agent, `agentSpanId`. `wrappers`: the numbers of model calls whose
 * tokens another one reports too.
 */
export function reportedSpans(
  run: RunSpans,
  recorded: readonly RecordedSpan[],
  wrappers: ReadonlySet<number>,
  agentSpanId: string | null,
): Span[] {
  const ended = recorded.filter(({ span }) => span.endUs !== undefined)
  const ids = new Set(ended.map(({ span }) => span.spanId))
  const idOf = (id: string) => spanIdOf(`${run.runId} ${id}`)
  return ended.map(({ span, event }) => {
    const { spanId, parentSpanId = '', startUs, endUs = startUs, error } = span
    const isWhole = run.content && !event.erased
    return {
      ...{ traceId: run.traceId, spanId: idOf(spanId) },
      parentSpanId: ids.has(parentSpanId) ? idOf(parentSpanId) : agentSpanId,
      name: isWhole ? span.name : nameWithoutContent(span),
      kind: span.kind === 'model' ? 'client' : 'internal',
      ...{ start: Math.floor(startUs / 1_000), end: Math.floor(endUs / 1_000) },
      attributes: {
        ...attributesOf(span, isWhole),
        ...(!wrappers.has(span.n) && usageAttributes(span)),
        ...commonAttributes(run, event),
        'keepup.governed': false,
      },
      ...{ events: [], links: [], error: error === undefined ? null : spanError(run, error.type, error.message) },
    }
  })
}

const operationOf = ({ kind, operation }: RecordedSpan['span']): string | null => operation ?? OPERATIONS[kind]

function nameWithoutContent(span: RecordedSpan['span']): string {
  const of = span.tool ?? span.model
  return [operationOf(span) ?? 'span', isName(of) ? of : ''].join(' ').trim()
}

function attributesOf(span: RecordedSpan['span'], isWhole: boolean): Attributes {
  const { kind, model, tool, error } = span
  const operation = operationOf(span)
  const isShown = (name: string | undefined): name is string => isName(name) || (isWhole && name !== undefined)
  return {
    ...(operation !== null && { 'gen_ai.operation.name': operation }),
    'openinference.span.kind': span.operation === 'embeddings' ? 'EMBEDDING' : OPENINFERENCE[kind],
    ...(isShown(model) && { 'gen_ai.request.model': model, 'gen_ai.response.model': model }),
    ...(isShown(tool) && { 'gen_ai.tool.name': tool }),
    ...(error !== undefined && { 'error.type': isShown(error.type) ? error.type : 'error' }),
  }
}

function usageAttributes({ usage }: RecordedSpan['span']): Attributes {
  const { input = null, output = null, cacheRead = null, cacheWrite = null, cost = null } = usage ?? {}
  return {
    ...(input !== null && { 'gen_ai.usage.input_tokens': input }),
    ...(cacheRead !== null && { 'gen_ai.usage.cache_read.input_tokens': cacheRead }),
    ...(cacheWrite !== null && {
      'gen_ai.usage.cache_write.input_tokens': cacheWrite,
      'gen_ai.usage.cache_creation.input_tokens': cacheWrite,
    }),
    ...(output !== null && { 'gen_ai.usage.output_tokens': output }),
    ...(cost !== null && {
      'keepup.cost.nano_dollars': cost.nanoDollars,
      'gen_ai.usage.cost': { double: cost.nanoDollars / 1e9 },
      'llm.cost.total': { double: cost.nanoDollars / 1e9 },
    }),
  }
}
