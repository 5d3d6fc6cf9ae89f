import type { BodyOf } from '../events/events.ts'
import type { Estimate } from '../state/machine.ts'
import type { Segment, TurnRange } from './segment.ts'

// Which messages requests show (seed 000, 5.11). Hidden ranges remain in the log.

/** A recorded text: the revision and body hash of its event. */
export interface RecordedText {
  readonly revision: number
  readonly hash: string
  readonly text: string
}

/** The model call of a summary, between two turns. The run waits for its end. */
export interface Summarizing {
  readonly model: string
  readonly attempt: number
  readonly epoch: number
  readonly estimate: Estimate
  /** Revision of the intent. */
  readonly since: number
  readonly segments: readonly Segment[]
}

export type KnowledgeItem = BodyOf<'knowledge_added'>['items'][number]

export interface Compression {
  /** How the messages are shown, without gaps from the first message. Later messages are shown unchanged. */
  readonly segments: readonly Segment[]
  /** The summary that segments refer to. */
  readonly summary: RecordedText | null
  /** The last answer to a summary request, until segments refer to it. */
  readonly draft: RecordedText | null
  readonly summarizing: Summarizing | null
  /** Number of summary attempts so far. It numbers the attempts, which belong to no turn. */
  readonly attempts: number
  /** Consecutive attempts without a summary. */
  readonly failed: number
  /** Hidden turns that a person asked to show in the next request. */
  readonly expanding: readonly TurnRange[]
  /** Turns that are shown until the next answer, because a person asked for them. */
  readonly pinned: readonly TurnRange[]
  /** Knowledge in requests. `knowledgeDue`: it must be recorded again, because the context was compressed since. */
  readonly knowledge: {
    readonly revision: number
    readonly hash: string
    readonly items: readonly KnowledgeItem[]
  } | null
  readonly knowledgeDue: boolean
}

export const UNCOMPRESSED: Compression = {
  segments: [],
  summary: null,
  draft: null,
  summarizing: null,
  attempts: 0,
  failed: 0,
  expanding: [],
  pinned: [],
  knowledge: null,
  knowledgeDue: false,
}

/** The digest's view: without texts and source names, which can be erased. */
export function compressionWithoutText({ summary, draft, knowledge, ...rest }: Compression) {
  const source = (one: { revision: number; hash: string } | null) => one && { revision: one.revision, hash: one.hash }
  return { ...rest, summary: source(summary), draft: source(draft), knowledge: source(knowledge) }
}

/** The segments of all `count` messages: the recorded ones, and later messages unchanged. */
export function segmentsOf({ segments }: Compression, count: number): readonly Segment[] {
  const to = segments.at(-1)?.to ?? 0
  if (segments.length > 0 && to === count) return segments
  return joined([...segments, { kind: 'keep', from: to, to: count }])
}

export const isHidden = (segment: Segment): segment is Extract<Segment, { turns: TurnRange }> =>
  segment.kind === 'hide' || segment.kind === 'summary'

/** Merges adjacent segments that are shown alike. */
export function joined(segments: readonly Segment[]): Segment[] {
  const all: Segment[] = []
  for (const segment of segments) {
    const last = all.at(-1)
    if (last === undefined || last.to !== segment.from || !isAlike(last, segment)) all.push(segment)
    else all[all.length - 1] = merged(last, segment)
  }
  return all
}

function isAlike(a: Segment, b: Segment): boolean {
  if (a.kind === 'cut' && b.kind === 'cut') return a.bytes === b.bytes
  if (a.kind === 'summary' && b.kind === 'summary') return a.revision === b.revision
  return a.kind === b.kind
}

function merged(a: Segment, b: Segment): Segment {
  const { to } = b
  if (!isHidden(a) || !isHidden(b)) return { ...a, to }
  return { ...a, to, turns: { from: Math.min(a.turns.from, b.turns.from), to: Math.max(a.turns.to, b.turns.to) } }
}
