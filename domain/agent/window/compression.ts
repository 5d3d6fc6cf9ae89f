import { byteLength } from '../../calls/bounded.ts'
import type { AgentSpec, ModelInfo } from '../definition/spec.ts'
import type { Message } from '../events/content.ts'
import { hiddenMessage, shownAs } from './compressed-request.ts'
import { isHidden, joined } from './compression-state.ts'
import type { RequestInputs } from './request-inputs.ts'
import type { CutSegment, Segment, TurnRange } from './segment.ts'

// The kept parts of a context that has grown too long (seed 000, 5.11). Turns are hidden as a whole, so that
// no call is ever separated from its result; messages of users may stay alone.

/** Turns whose calls and results stay whole. */
export const WHOLE_TURNS = 3
/** Pruning is enough where it leaves at most this part of the threshold: else the next turns would compress again. */
const PRUNED_ENOUGH = 0.75
/** To how many bytes results of the last turns are cut, one after the other, until the context fits. */
const CUTS = [8_192, 2_048, 512] as const
/** Results in what is summarised are cut to so many bytes. */
const SUMMARISED_RESULT_BYTES = 4_096
/** Tokens kept for the answer, as far as the limit allows. */
const ANSWER_TOKENS = 1_024

/** The most tokens that a request of the run may have: the model's own limit, or a lower one of the run. */
export const contextLimit = ({ context }: Pick<AgentSpec, 'context'>, { contextTokens }: ModelInfo): number =>
  Math.min(contextTokens, context.maxTokens ?? contextTokens)

/** A message that may be shown. */
export interface Entry {
  readonly ordinal: number
  readonly turn: number
  readonly message: Message
  /** How it is shown now. */
  readonly as: Segment
}

/** The context as it is shown now, in messages and in tokens. */
export interface Shown {
  readonly entries: readonly Entry[]
  readonly hidden: readonly Extract<Segment, { turns: TurnRange }>[]
  /** The turn that is to begin. */
  readonly turn: number
  readonly preserveLastN: number
  /** The turn from which on everything stays, such as that of a final warning. */
  readonly staysFrom: number
  /** Turns that a person wants to see. */
  readonly pinned: readonly TurnRange[]
  readonly inputs: Pick<RequestInputs, 'defined' | 'summary'>
  /** Estimated tokens of the coming request as it is now, and the bytes of it beside the messages. */
  readonly tokens: number
  readonly fixedBytes: number
  /** Bytes of the messages as they are shown now. */
  readonly bytes: number
  readonly limit: number
  readonly threshold: number
}

/** How the context may be shown. */
export interface Plan {
  readonly segments: readonly Segment[]
  readonly tokens: number
  /** There is room for an answer too. */
  readonly fits: boolean
}

const within = (turn: number, ranges: readonly TurnRange[]) => ranges.some(({ from, to }) => turn >= from && turn <= to)

/** The entries that no strategy may hide: whole last turns, and the last messages of users. */
function kept({ entries, turn, preserveLastN, staysFrom, pinned }: Shown): ReadonlySet<Entry> {
  const users = entries.filter(({ message }) => message.role === 'user')
  const last = new Set(preserveLastN === 0 ? [] : users.slice(-preserveLastN))
  const whole = Math.min(turn - WHOLE_TURNS, staysFrom)
  return new Set(entries.filter((one) => one.turn >= whole || last.has(one) || within(one.turn, pinned)))
}

/**
 * The part that is hidden next, as a model is given it to summarise; empty: nothing is left to hide. `all`: with what was
 * hidden before without a summary.
 */
export function toSummarise(shown: Shown, all: boolean): readonly CutSegment[] {
  const keep = kept(shown)
  const next = shown.entries.filter((entry) => !keep.has(entry)).map(({ ordinal }) => [ordinal, ordinal + 1] as const)
  const before = shown.hidden.filter(({ kind }) => all && kind === 'hide').map(({ from, to }) => [from, to] as const)
  if (next.length === 0) return []
  const ranges = [...before, ...next].sort(([a], [b]) => a - b)
  const parts = ranges.map(([from, to]) => ({ kind: 'cut', from, to, bytes: SUMMARISED_RESULT_BYTES }) as const)
  return joined(parts).filter((one) => one.kind === 'cut')
}

/** Old results are left out; what is said stays. Null: this alone does not make room enough. */
export function pruned(shown: Shown): Plan | null {
  const keep = kept(shown)
  const plan = planned(shown, (entry) =>
    keep.has(entry) ? entry.as : { kind: 'prune', from: entry.ordinal, to: entry.ordinal + 1 },
  )
  return plan.tokens <= PRUNED_ENOUGH * shown.threshold * shown.limit ? plan : null
}

/** Everything old is hidden: behind the summary of this revision, which covers these segments, or without one (null). */
export function hiding(shown: Shown, summary: RequestInputs['summary'] | null, covered: readonly Segment[] = []): Plan {
  const keep = kept(shown)
  const asHidden = ({ ordinal, turn }: Entry): Segment => {
    const range = { from: ordinal, to: ordinal + 1, turns: { from: turn, to: turn } }
    return summary == null ? { kind: 'hide', ...range } : { kind: 'summary', ...range, revision: summary.revision }
  }
  const renewed = summary == null ? shown : summarisedBy(shown, summary, covered)
  const plan = planned(renewed, (entry) => (keep.has(entry) ? entry.as : asHidden(entry)))
  return plan.fits ? plan : (cut(renewed, keep, asHidden) ?? plan)
}

/** A new summary takes the older one up, and what was hidden without one as far as it covers that. */
function summarisedBy(
  shown: Shown,
  summary: NonNullable<RequestInputs['summary']>,
  covered: readonly Segment[],
): Shown {
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

/** The kept part does not fit: results are cut, to fewer and fewer bytes. */
function cut(shown: Shown, keep: ReadonlySet<Entry>, asHidden: (entry: Entry) => Segment): Plan | null {
  let plan: Plan | null = null
  for (const bytes of CUTS) {
    plan = planned(shown, (entry) =>
      keep.has(entry) ? { kind: 'cut', from: entry.ordinal, to: entry.ordinal + 1, bytes } : asHidden(entry),
    )
    if (plan.fits) return plan
  }
  return plan
}

/** As it is, with the turns that a person wants to see. */
export const unchanged = (shown: Shown): Plan => planned(shown, ({ as }) => as)

function planned(shown: Shown, as: (entry: Entry) => Segment): Plan {
  const { entries, inputs, tokens, fixedBytes, bytes, limit } = shown
  const chosen = entries.map((entry) => ({ entry, segment: as(entry) }))
  const pieces = [...shown.hidden, ...chosen.map(({ segment }) => segment)]
  const segments = joined(pieces.sort((a, b) => a.from - b.from))
  const after = chosen.reduce(
    (sum, { entry, segment }) => sum + (isHidden(segment) ? 0 : sizeOf(shownAs(segment, entry.message, inputs))),
    sizeOf(hiddenMessage({ ...inputs, segments })),
  )
  // The last reported use tells how many tokens a byte of this conversation takes.
  const density = tokens / Math.max(1, fixedBytes + bytes)
  const estimate = Math.max(1, Math.ceil(tokens + (after - bytes) * density))
  return { segments, tokens: estimate, fits: estimate + Math.min(ANSWER_TOKENS, limit / 8) <= limit }
}

/** Sizes by message: a long context asks for each of them several times in one decision. */
const sizes = new WeakMap<Message, number>()

/** Bytes of a message; null: there is none. */
export function sizeOf(message: Message | null): number {
  if (message === null) return 0
  const known = sizes.get(message)
  if (known !== undefined) return known
  const size = byteLength(JSON.stringify(message))
  sizes.set(message, size)
  return size
}
