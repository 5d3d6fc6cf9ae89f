import {
  type DecodedSpans,
  type OtlpResource,
  type OtlpSpan,
  resourceOf,
} from '../../domain/external/reported/otlp-span.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import type { OtlpBudget } from './budget.ts'

/** The parts of an ExportTraceServiceRequest in one encoding. Each part is decoded when it is taken. */
export interface Encoding<Part> {
  resources(): Iterable<Part>
  /** The attributes of the resource. */
  resource(entry: Part): JsonObject
  scopes(entry: Part): Iterable<Part>
  /** The name of the instrumentation scope; empty: not known. */
  scope(scoped: Part): string
  spans(scoped: Part): Iterable<Part>
  /** The span, or why it is refused. */
  span(span: Part, resource: OtlpResource): OtlpSpan | string
}

/**
 * Decodes the spans of a request, one per step. A refused span costs no other span. Throws the errors of the encoding, and
 * `OtlpTooLarge`.
 */
export function* decodeSpans<Part>(encoding: Encoding<Part>, budget: OtlpBudget): Generator<undefined, DecodedSpans> {
  const [spans, faults]: [OtlpSpan[], string[]] = [[], []]
  for (const entry of encoding.resources()) {
    const resource = resourceOf(encoding.resource(entry))
    for (const scoped of encoding.scopes(entry)) {
      const scope = encoding.scope(scoped)
      for (const span of encoding.spans(scoped)) {
        budget.span()
        const decoded = encoding.span(span, { ...resource, scope })
        if (typeof decoded === 'string') faults.push(decoded)
        else spans.push(decoded)
        yield
      }
    }
  }
  return { spans, faults }
}
