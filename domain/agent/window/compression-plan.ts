import type { Message } from '../../calls/content.ts'
import { byteLength } from '../../calls/truncate.ts'
import type { AgentSpec, ModelInfo } from '../../tree/spec.ts'
import { hiddenMessage, shownAs } from './compressed-request.ts'
import { isHidden, joined } from './compression-state.ts'
import type { RequestInputs } from './request-inputs.ts'
import type { CutSegment, Segment, TurnRange } from './segment.ts'

// Decides which parts of a long context are kept (seed 000, 5.11). Turns are hidden as a whole, so that no call is
// separated from its result. User messages may be kept without their turn.

/** The number of latest turns whose calls and results stay whole. */
export const WHOLE_TURNS = 3
/**
 * The share of the threshold to which pruning must shrink the context. Otherwise the next turns would compress again.
 */
const PRUNED_ENOUGH = 0.75
/** Sizes to which results of kept turns are truncated, in bytes, tried in order until the context fits. */
const CUTS = [8_192, 2_048, 512] as const
/** Size to which results are truncated in the text to summarize, in bytes. */
const SUMMARISED_RESULT_BYTES = 4_096
/** Tokens kept for the answer, as far as the limit allows. */
const ANSWER_TOKENS = 1_024

/** The most tokens of a request: the model's limit, or a lower limit of the run. */
export const contextLimit = ({ context }: Pick<AgentSpec, 'context'>, { contextTokens }: ModelInfo): number =>
  Math.min(contextTokens, context.maxTokens ?? contextTokens)

export interface Entry {
  readonly ordinal: number
  readonly turn: number
  readonly message: Message
  readonly as: Segment
}

/** The context as shown now, with its sizes. */
export interface ShownContext {
  readonly entries: readonly Entry[]
  readonly hidden: readonly Extract<Segment, { turns: TurnRange }>[]
  /** The turn that is about to begin. */
  readonly turn: number
  readonly preserveLastN: number
  /** The turn from which everything is kept, for example the warning turn. */
  readonly staysFrom: number
  readonly pinned: readonly TurnRange[]
  readonly inputs: Pick<RequestInputs, 'defined' | 'summary'>
  /** Estimated tokens of the next request as shown now, and its bytes besides the messages. */
  readonly tokens: number
  readonly fixedBytes: number
  readonly bytes: number
  readonly limit: number
  readonly threshold: number
}

export interface Plan {
  readonly segments: readonly Segment[]
  readonly tokens: number
  /** The request fits, with room for an answer. */
  readonly fits: boolean
}

const within = (turn: number, ranges: readonly TurnRange[]) => ranges.some(({ from, to }) => turn >= from && turn <= to)

/** The entries that no strategy may hide: the latest turns, the last user messages, and pinned turns. */
function kept({ entries, turn, preserveLastN, staysFrom, pinned }: ShownContext): ReadonlySet<Entry> {
  const users = entries.filter(({ message }) => message.role === 'user')
  const last = new Set(preserveLastN === 0 ? [] : users.slice(-preserveLastN))
  const whole = Math.min(turn - WHOLE_TURNS, staysFrom)
  return new Set(entries.filter((one) => one.turn >= whole || last.has(one) || within(one.turn, pinned)))
}

/**
 * The segments to hide next, as input of a summary; empty: nothing left to hide. `all`: includes turns that were hidden
 * before without a summary.
 */
export function toSummarise(shown: ShownContext, all: boolean): readonly CutSegment[] {
  const keep = kept(shown)
  const next = shown.entries.filter((entry) => !keep.has(entry)).map(({ ordinal }) => [ordinal, ordinal + 1] as const)
  const before = shown.hidden.filter(({ kind }) => all && kind === 'hide').map(({ from, to }) => [from, to] as const)
  if (next.length === 0) return []
  const ranges = [...before, ...next].sort(([a], [b]) => a - b)
  const parts = ranges.map(([from, to]) => ({ kind: 'cut', from, to, bytes: SUMMARISED_RESULT_BYTES }) as const)
  return joined(parts).filter((one) => one.kind === 'cut')
}

/** Leaves out old results and keeps the rest. Null: this does not make enough room. */
export function pruned(shown: ShownContext): Plan | null {
  const keep = kept(shown)
  const plan = planned(shown, (entry) =>
    keep.has(entry) ? entry.as : { kind: 'prune', from: entry.ordinal, to: entry.ordinal + 1 },
  )
  return plan.tokens <= PRUNED_ENOUGH * shown.threshold * shown.limit ? plan : null
}

/** Hides all old entries. `summary`: the summary that covers `covered`; null: without a summary. */
export function hiding(
  shown: ShownContext,
  summary: RequestInputs['summary'] | null,
  covered: readonly Segment[] = [],
): Plan {
  const keep = kept(shown)
  const asHidden = ({ ordinal, turn }: Entry): Segment => {
    const range = { from: ordinal, to: ordinal + 1, turns: { from: turn, to: turn } }
    return summary == null ? { kind: 'hide', ...range } : { kind: 'summary', ...range, revision: summary.revision }
  }
  const renewed = summary == null ? shown : summarisedBy(shown, summary, covered)
  const plan = planned(renewed, (entry) => (keep.has(entry) ? entry.as : asHidden(entry)))
  return plan.fits ? plan : (cut(renewed, keep, asHidden) ?? plan)
}

/** A new summary replaces the older summary, and covers hidden segments within `covered`. */
function summarisedBy(
  shown: ShownContext,
  summary: NonNullable<RequestInputs['summary']>,
  covered: readonly Segment[],
): ShownContext {
  const { revision } = summary
  const covers = ({ from, to }: Segment) => covered.some((one) => one.from <= from && one.to >= to)
  return {
    ...shown,
    hidden: shown.hidden.map((one) =>
      one.kind === 'summary' || covers(one) ? { ...one, kind: 'summary', revision } : one,
    ),
    inputs: { ...shown.inputs, summary },
  }
}

/** Truncates results of the kept part further and further until it fits. */
function cut(shown: ShownContext, keep: ReadonlySet<Entry>, asHidden: (entry: Entry) => Segment): Plan | null {
  let plan: Plan | null = null
  for (const bytes of CUTS) {
    plan = planned(shown, (entry) =>
      keep.has(entry) ? { kind: 'cut', from: entry.ordinal, to: entry.ordinal + 1, bytes } : asHidden(entry),
    )
    if (plan.fits) return plan
  }
  return plan
}

/** The context as shown now, including the turns that a person asked for. */
export const unchanged = (shown: ShownContext): Plan => planned(shown, ({ as }) => as)

function planned(shown: ShownContext, as: (entry: Entry) => Segment): Plan {
  const { entries, inputs, tokens, fixedBytes, bytes, limit } = shown
  const chosen = entries.map((entry) => ({ entry, segment: as(entry) }))
  const pieces = [...shown.hidden, ...chosen.map(({ segment }) => segment)]
  const segments = joined(pieces.sort((a, b) => a.from - b.from))
  const after = chosen.reduce(
    (sum, { entry, segment }) => sum + (isHidden(segment) ? 0 : sizeOf(shownAs(segment, entry.message, inputs))),
    sizeOf(hiddenMessage({ ...inputs, segments })),
  )
  // The last reported usage gives the tokens per byte of this conversation.
  const density = tokens / Math.max(1, fixedBytes + bytes)
  const estimate = Math.max(1, Math.ceil(tokens + (after - bytes) * density))
  return { segments, tokens: estimate, fits: estimate + Math.min(ANSWER_TOKENS, limit / 8) <= limit }
}

/** Sizes by message, because one decision needs each size several times. */
const sizes = new WeakMap<Message, number>()

/** Bytes of a message as JSON; null: 0. */
export function sizeOf(message: Message | null): number {
  if (message === null) return 0
  const known = sizes.get(message)
  if (known !== undefined) return known
  const size = byteLength(JSON.stringify(message))
  sizes.set(message, size)
  return size
}
