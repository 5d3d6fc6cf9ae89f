import type { BodyOf } from '../events/events.ts'
import type { Estimate } from '../state/machine.ts'
import type { Segment, TurnRange } from './segment.ts'

// The part of the messages that requests show (seed 000, 5.11). The hidden ranges stay in the log.

/** A recorded text: the revision and the body hash of its event. */
export interface RecordedText {
  readonly revision: number
  readonly hash: string
  readonly text: string
}

/** The model call that makes a summary. It stands between turns; the run goes on when it has ended. */
export interface Summarizing {
  readonly model: string
  readonly attempt: number
  readonly epoch: number
  readonly estimate: Estimate
  /** Revision of the intent. */
  readonly since: number
  /** The part that is to be summarised. */
  readonly segments: readonly Segment[]
}

export type KnowledgeItem = BodyOf<'knowledge_added'>['items'][number]

export interface Compression {
  /** How the messages are shown, from the first one on without a gap. Those after them are shown as they are. */
  readonly segments: readonly Segment[]
  /** The summary that segments name. */
  readonly summary: RecordedText | null
  /** The last answer of a model that was asked for a summary, until segments name it. */
  readonly draft: RecordedText | null
  readonly summarizing: Summarizing | null
  /** Model attempts for summaries so far, which number them; they stand outside of turns. */
  readonly attempts: number
  /** Attempts in a row that brought no summary. */
  readonly failed: number
  /** Hidden turns that a person has asked to be shown in the next request. */
  readonly expanding: readonly TurnRange[]
  /** Turns that are shown until the next answer because a person has asked for them. */
  readonly pinned: readonly TurnRange[]
  /** Knowledge that requests hold, and whether it must be recorded anew because the context was compressed since. */
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

/** As the digest covers it: texts and names of sources can be erased. */
export function compressionWithoutText({ summary, draft, knowledge, ...rest }: Compression) {
  const source = (one: { revision: number; hash: string } | null) => one && { revision: one.revision, hash: one.hash }
  return { ...rest, summary: source(summary), draft: source(draft), knowledge: source(knowledge) }
}

/** The segments of all `count` messages: those recorded, and the messages since as they are. */
export function segmentsOf({ segments }: Compression, count: number): readonly Segment[] {
  const to = segments.at(-1)?.to ?? 0
  if (segments.length > 0 && to === count) return segments
  return joined([...segments, { kind: 'keep', from: to, to: count }])
}

export const isHidden = (segment: Segment): segment is Extract<Segment, { turns: TurnRange }> =>
  segment.kind === 'hide' || segment.kind === 'summary'

/** Neighbours that are shown alike as one. */
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
