import type { ExternalBodyOf } from '../events.ts'
import { isName, type ReportedSpan, type SpanKind } from './span.ts'
import { hasTokens, NOTHING_SPENT, type Spent, withUsage } from './usage.ts'

/** The part of a span that decides about later reports. `parent` null: the span is a root. Times in µs. */
export interface SpanEntry {
  readonly n: number
  readonly id: string
  readonly parent: string | null
  /** 1: the parent is in another process. */
  readonly remote: 0 | 1
  readonly kind: SpanKind
  readonly startUs: number
  /** Null: the span is open. */
  readonly endUs: number | null
  /** The operation and the model of a model call that has ended; null: another span. */
  readonly call: string | null
  /** 1: the span reports tokens. */
  readonly tokens: 0 | 1
}

/** The spans of a reported run. */
export interface Reported {
  /** The entries of each batch. An entry of an ended span counts instead of the entry of the same span when open. */
  readonly spans: readonly (readonly SpanEntry[])[]
  /** The number of different spans. */
  readonly count: number
  /** The number of the run's root span; null: no root has ended. */
  readonly root: number | null
  /** The number of the span that named the run's session; null: none has. */
  readonly session: number | null
  /** The numbers of model calls that contain the same model call. */
  readonly wrappers: readonly number[]
  readonly spent: Spent
}

export const NO_SPANS: Reported = {
  ...{ spans: [], count: 0, root: null, session: null, wrappers: [] },
  spent: NOTHING_SPENT,
}

/** The spans after a batch; null: a number does not follow. */
export function withSpans(
  before: Reported = NO_SPANS,
  { spans, root, session, wrappers }: ExternalBodyOf<'spans_reported'>,
): Reported | null {
  let { count } = before
  for (const { n } of spans) {
    if (n > count) return null
    if (n === count) count += 1
  }
  return {
    spans: [...before.spans, spans.map(entryOf)],
    count,
    root: root ?? before.root,
    session: session?.n ?? before.session,
    wrappers: wrappers === undefined ? before.wrappers : [...new Set([...before.wrappers, ...wrappers])],
    spent: spans.reduce((sum, { usage }) => (usage === undefined ? sum : withUsage(sum, usage)), before.spent),
  }
}

export const entryOf = ({ n, spanId, parentSpanId, remote, kind, startUs, endUs, ...span }: ReportedSpan) =>
  ({
    ...{ n, id: spanId, parent: parentSpanId ?? null, remote: remote ? 1 : 0, kind, startUs, endUs: endUs ?? null },
    call: kind === 'model' && endUs !== undefined ? callOf(span) : null,
    tokens: hasTokens(span.usage) ? 1 : 0,
  }) satisfies SpanEntry

/** An erasure leaves only models that are names, so no other text may tell two calls apart. */
const callOf = ({ operation, model }: Pick<ReportedSpan, 'operation' | 'model'>): string =>
  `${operation === 'embeddings' ? 'embeddings' : 'generation'} ${isName(model) ? model : ''}`

/** The spans of a run by id. The last report of a span counts. */
export function spansById({ spans }: Reported): Map<string, SpanEntry> {
  const all = new Map<string, SpanEntry>()
  for (const batch of spans) for (const entry of batch) all.set(entry.id, entry)
  return all
}

/** The earliest of the root spans that have ended. A span below another process counts if there is no other root. */
export function rootOf(spans: Iterable<SpanEntry>): SpanEntry | null {
  const roots = [...spans].filter(({ parent, remote, endUs }) => endUs !== null && (parent === null || remote === 1))
  return roots.reduce<SpanEntry | null>((first, one) => (first === null || isBefore(one, first) ? one : first), null)
}

/** The span of a batch that names the session of the run: the earliest of all spans with a conversation. */
export function namesSession(
  batch: readonly ReportedSpan[],
  known: ReadonlyMap<string, SpanEntry>,
  { session }: Reported,
): { readonly n: number; readonly id: string } | null {
  let first = known.values().find(({ n }) => n === session) ?? null
  let named: { n: number; id: string } | null = null
  for (const span of batch) {
    const entry = entryOf(span)
    if (span.conversation === undefined || (first !== null && !isEarlier(entry, first))) continue
    first = entry
    named = { n: span.n, id: span.conversation }
  }
  return named
}

const isEarlier = (a: SpanEntry, b: SpanEntry): boolean =>
  a.startUs < b.startUs || (a.startUs === b.startUs && a.id < b.id)

function isBefore(a: SpanEntry, b: SpanEntry): boolean {
  const below = Number(a.parent !== null) - Number(b.parent !== null)
  return below === 0 ? isEarlier(a, b) : below < 0
}

/** The longest way from a model call up to a model call that contains it, in spans. */
const MAX_WAY = 64

/**
 * The numbers of model calls that contain the same model call: two instrumentations of one call both report it. Only calls
 * that have ended are compared, so that no later report makes the answer false. An outer call with tokens of another
 * model, or with a tool or an agent between the two, is a call of its own.
 */
export function wrappersOf(spans: ReadonlyMap<string, SpanEntry>): ReadonlySet<number> {
  const found = new Set<number>()
  const above = ({ parent }: SpanEntry) => (parent === null ? undefined : spans.get(parent))
  for (const inner of spans.values()) {
    if (inner.call === null || inner.tokens === 0) continue
    let outer = above(inner)
    for (let way = 0; outer !== undefined && way < MAX_WAY; way++) {
      const isWrapper = outer.call !== null && (outer.tokens === 0 || outer.call === inner.call)
      if (isWrapper) found.add(outer.n)
      else if (outer.kind !== 'other') break
      outer = above(outer)
    }
  }
  return found
}
