import { commonAttributes, type RunSpans, type Span, spanError } from '../../calls/telemetry.ts'
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

/**
 * The span of a reported span: none while it is open. Its id derives from the run and the reported id, so that spans of
 * other batches find their parents. `agentSpanId`: the span of the run's agent, which is above the roots.
 */
export function reportedSpan(
  run: RunSpans,
  event: { readonly id: string; readonly stream: string; readonly revision: number; readonly erased: boolean },
  span: ReportedSpan,
  agentSpanId: string | null,
): readonly Span[] {
  const { spanId, parentSpanId, remote, name, kind, startUs, endUs, error, model, tool, usage } = span
  if (endUs === undefined) return []
  const idOf = (id: string) => spanIdOf(`${run.runId} ${id}`)
  const operation = OPERATIONS[kind]
  const isTop = parentSpanId === undefined || remote === true
  return [
    {
      ...{ traceId: run.traceId, spanId: idOf(spanId), parentSpanId: isTop ? agentSpanId : idOf(parentSpanId) },
      name: run.content && !event.erased ? name : [operation ?? 'span', tool ?? model ?? ''].join(' ').trim(),
      kind: kind === 'model' ? 'client' : 'internal',
      ...{ start: Math.floor(startUs / 1_000), end: Math.floor(endUs / 1_000) },
      attributes: {
        ...(operation !== null && { 'gen_ai.operation.name': operation }),
        'openinference.span.kind': OPENINFERENCE[kind],
        ...(model !== undefined && { 'gen_ai.response.model': model, 'gen_ai.request.model': model }),
        ...(tool !== undefined && { 'gen_ai.tool.name': tool }),
        ...(usage?.input != null && { 'gen_ai.usage.input_tokens': usage.input }),
        ...(usage?.output != null && { 'gen_ai.usage.output_tokens': usage.output }),
        ...(usage?.cost != null && { 'keepup.cost.nano_dollars': usage.cost.nanoDollars }),
        ...(error !== undefined && { 'error.type': error.type }),
        ...commonAttributes(run, event),
        'keepup.governed': false,
      },
      ...{ events: [], links: [], error: error === undefined ? null : spanError(run, error.type, error.message) },
    },
  ]
}
