import type { ExternalBodyOf } from '../events.ts'
import type { ReportedSpan, SpanKind } from './span.ts'

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
  readonly conversation: string | null
}

/** The spans of a reported run. */
export interface Reported {
  /** The entries of each batch. An entry of an ended span counts instead of the entry of the same span when open. */
  readonly spans: readonly (readonly SpanEntry[])[]
  /** The number of different spans. */
  readonly count: number
  /** The number of the run's root span; null: no root has ended. */
  readonly root: number | null
  /** The numbers of model calls that contain another model call. */
  readonly wrappers: readonly number[]
}

export const NO_SPANS: Reported = { spans: [], count: 0, root: null, wrappers: [] }

/** The spans after a batch; null: a number does not follow. */
export function withSpans(
  before: Reported = NO_SPANS,
  { spans, root, wrappers }: ExternalBodyOf<'spans_reported'>,
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
    wrappers: wrappers === undefined ? before.wrappers : [...new Set([...before.wrappers, ...wrappers])],
  }
}

export const entryOf = ({ n, spanId, parentSpanId, remote, kind, startUs, endUs, conversation }: ReportedSpan) =>
  ({
    ...{ n, id: spanId, parent: parentSpanId ?? null, remote: remote ? 1 : 0, kind, startUs, endUs: endUs ?? null },
    conversation: conversation ?? null,
  }) satisfies SpanEntry

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

/** The conversation that the earliest span with one names. */
export function conversationOf(spans: Iterable<SpanEntry>): string | null {
  let first: SpanEntry | null = null
  for (const one of spans) if (one.conversation !== null && (first === null || isEarlier(one, first))) first = one
  return first?.conversation ?? null
}

const isEarlier = (a: SpanEntry, b: SpanEntry): boolean =>
  a.startUs < b.startUs || (a.startUs === b.startUs && a.id < b.id)

function isBefore(a: SpanEntry, b: SpanEntry): boolean {
  const below = Number(a.parent !== null) - Number(b.parent !== null)
  return below === 0 ? isEarlier(a, b) : below < 0
}

/** The longest way from a model call up to the model call that contains it, in spans. */
const MAX_WAY = 64

/**
 * The numbers of model calls that contain another model call: two instrumentations of one call both report its tokens.
 * A tool or an agent between them makes them two calls.
 */
export function wrappersOf(spans: ReadonlyMap<string, SpanEntry>): ReadonlySet<number> {
  const found = new Set<number>()
  for (const { kind, parent } of spans.values()) {
    if (kind !== 'model') continue
    let above = parent === null ? undefined : spans.get(parent)
    for (let way = 0; above?.kind === 'other' && way < MAX_WAY; way++)
      above = above.parent === null ? undefined : spans.get(above.parent)
    if (above?.kind === 'model') found.add(above.n)
  }
  return found
}
