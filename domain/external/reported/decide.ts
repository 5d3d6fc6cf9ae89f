import { CommandRejected } from '../../calls/errors.ts'
import { byteLength, headOf } from '../../calls/truncate.ts'
import { BATCH } from '../batch.ts'
import { BOUNDS } from '../bounds.ts'
import type { ExternalCommand } from '../commands.ts'
import type { ExternalDecisionBuilder } from '../decision-builder.ts'
import type { Outcome } from '../outcome.ts'
import { isReported, isRunOver } from '../state.ts'
import { OTLP } from './backend.ts'
import { entryOf, NO_SPANS, namesSession, rootOf, spansById, wrappersOf } from './book.ts'
import { outputText } from './conventions.ts'
import type { ReportedSpan, UnnumberedSpan } from './span.ts'
import { boundedUsage, withUsage } from './usage.ts'

/** The most spans of a run. Further ones are refused, so that a state stays small. */
export const MAX_SPANS = 10_000

/** The most bytes of the spans in one event, as JSON. A larger span gets its own event. */
const BATCH_BYTES = 256 * 1024

/** The end of a reported run that a person closes. Its root span may still arrive. */
export const NEVER_REPORTED = {
  outcome: 'unknown',
  reason: 'the run was closed before a root span was reported; keepup cannot end the program that runs it',
} as const

/** Records spans that are new, and ended spans that were open. */
export function decideReport(
  d: ExternalDecisionBuilder,
  { traceId, spans }: Extract<ExternalCommand, { kind: 'report' }>,
): void {
  if (d.state !== null && !isReported(d.state))
    throw new CommandRejected('RUN_EXISTS', `${d.state.agentId} is a run of ${d.state.backend}; report another trace`)
  if (d.state === null) {
    if (spans.length === 0) return
    const extensions = { 'backend.otlp.trace_id': traceId }
    d.emit('external_started', { backend: OTLP, request: { prompt: `trace ${traceId}`, extensions }, capabilities: [] })
  }
  for (const batch of batches(fresh(d, spans))) record(d, batch)
}

/** The spans that are not recorded yet, each with its number and with figures that the run can have. */
function fresh(d: ExternalDecisionBuilder, spans: readonly UnnumberedSpan[]): ReportedSpan[] {
  const before = d.state!.reported ?? NO_SPANS
  const known = spansById(before)
  const news: ReportedSpan[] = []
  let [next, spent] = [before.count, before.spent]
  for (const span of spans) {
    const found = known.get(span.spanId)
    if (found === undefined ? next >= MAX_SPANS : found.endUs !== null || span.endUs === undefined) continue
    const usage = span.usage && boundedUsage(span.usage, spent)
    if (usage !== undefined) spent = withUsage(spent, usage)
    const numbered = { ...span, ...(usage !== undefined && { usage }), n: found?.n ?? next++ }
    known.set(span.spanId, entryOf(numbered))
    news.push(numbered)
  }
  return news
}

function* batches(spans: readonly ReportedSpan[]): Generator<readonly ReportedSpan[]> {
  let batch: ReportedSpan[] = []
  let bytes = 0
  for (const span of spans) {
    const size = byteLength(JSON.stringify(span))
    if (batch.length > 0 && (batch.length >= BATCH.events || bytes + size > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(span)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

function record(d: ExternalDecisionBuilder, batch: readonly ReportedSpan[]): void {
  const before = d.state!.reported ?? NO_SPANS
  const known = spansById(before)
  const session = namesSession(batch, known, before)
  for (const span of batch) known.set(span.spanId, entryOf(span))
  const root = rootOf(known.values())
  const named = new Set(batch.map(({ n }) => n))
  const marked = new Set(before.wrappers)
  const wrappers = [...wrappersOf(known)].filter((n) => named.has(n) || !marked.has(n))
  const isNewRoot = root !== null && root.n !== before.root
  const times = [...known.values()]
  d.emit('spans_reported', {
    spans: [...batch],
    fromUs: times.reduce((first, { startUs }) => Math.min(first, startUs), Number.MAX_SAFE_INTEGER),
    ...(root !== null && { toUs: times.reduce((last, { endUs }) => Math.max(last, endUs ?? 0), 0) }),
    ...(isNewRoot && { root: root.n }),
    ...(session !== null && { session }),
    ...(wrappers.length > 0 && { wrappers: wrappers.sort((a, b) => a - b) }),
  })
  // A new root is in this batch: roots of earlier batches were compared before.
  const span = isNewRoot ? batch.find(({ n }) => n === root.n) : undefined
  if (span === undefined) return
  const type = isRunOver(d.state!) ? 'outcome_learned' : 'external_ended'
  d.emit(type, outcomeOf(span), { actor: d.context.by })
}

function outcomeOf({ error, attributes = {} }: ReportedSpan): Outcome {
  if (error !== undefined)
    return { outcome: 'failed', exit: null, error: { code: 'Backend', message: error.message ?? error.type } }
  const text = outputText(attributes)
  const finalText = text === null ? null : headOf(text, BOUNDS.finalText)
  return { outcome: 'exited', exit: { code: null, signal: null }, success: true, finalText }
}
