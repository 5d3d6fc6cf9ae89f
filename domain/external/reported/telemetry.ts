import { type Attributes, commonAttributes, type RunSpans, type Span, spanError } from '../../calls/telemetry.ts'
import { spanIdOf } from '../../log/trace-ids.ts'
import type { ReportedSpan, SpanKind } from './span.ts'

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

/** Programs may report a sentence in place of a name. Without content a span has only names of this form. */
const NAME = /^[\w.:/-]{1,128}$/

/** A span with the event that recorded it. */
export interface RecordedSpan {
  readonly span: ReportedSpan
  readonly event: { readonly id: string; readonly stream: string; readonly revision: number; readonly erased: boolean }
}

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

const nameWithoutContent = ({ kind, tool, model }: ReportedSpan): string => {
  const of = tool ?? model ?? ''
  return [OPERATIONS[kind] ?? 'span', NAME.test(of) ? of : ''].join(' ').trim()
}

function attributesOf({ kind, model, tool, error }: ReportedSpan, isWhole: boolean): Attributes {
  const operation = OPERATIONS[kind]
  const isShown = (name: string | undefined): name is string => name !== undefined && (isWhole || NAME.test(name))
  return {
    ...(operation !== null && { 'gen_ai.operation.name': operation }),
    'openinference.span.kind': OPENINFERENCE[kind],
    ...(isShown(model) && { 'gen_ai.request.model': model, 'gen_ai.response.model': model }),
    ...(isShown(tool) && { 'gen_ai.tool.name': tool }),
    ...(error !== undefined && { 'error.type': isShown(error.type) ? error.type : 'error' }),
  }
}

function usageAttributes({ usage }: ReportedSpan): Attributes {
  const { input = null, output = null, cacheRead = null, cost = null } = usage ?? {}
  return {
    ...(input !== null && { 'gen_ai.usage.input_tokens': input }),
    ...(cacheRead !== null && { 'gen_ai.usage.cache_read.input_tokens': cacheRead }),
    ...(output !== null && { 'gen_ai.usage.output_tokens': output }),
    ...(cost !== null && {
      'keepup.cost.nano_dollars': cost.nanoDollars,
      'gen_ai.usage.cost': { double: cost.nanoDollars / 1e9 },
      'llm.cost.total': { double: cost.nanoDollars / 1e9 },
    }),
  }
}
