import type { ModelInfo } from '../../tree/spec.ts'
import { estimateInput } from '../rules/own-budget.ts'
import { type AgentState, recoveryOf } from '../state/state.ts'
import type { Transcript } from '../state/transcript.ts'
import { hiddenMessage, shownAs } from './compressed-request.ts'
import { contextLimit, type Entry, type ShownContext, sizeOf } from './compression-plan.ts'
import { isHidden, segmentsOf } from './compression-state.ts'
import { requestFacts } from './request.ts'
import type { Segment, TurnRange } from './segment.ts'

/** The context of the next turn as shown now. `asked`: hidden turns to show again. */
export function shownContext(
  state: AgentState,
  told: Pick<Transcript, 'at'>,
  info: ModelInfo,
  asked: readonly TurnRange[],
): ShownContext {
  const { spec, compression } = state
  const now = segmentsOf(compression, state.messages.count)
  const split = asked.length === 0 ? now : now.flatMap((segment) => broughtBack(segment, told, asked))
  const inputs = {
    defined: { hash: state.specHash, tools: spec.tools },
    ...(compression.summary === null ? {} : { summary: compression.summary }),
  }
  const entries = split.filter((one) => !isHidden(one)).flatMap((one) => entriesOf(one, told))
  const shownBefore = entries.filter(({ as, ordinal }) => !wasHidden(now, as, ordinal))
  const bytes = shownBefore.reduce(
    (sum, { as, message }) => sum + sizeOf(shownAs(as, message, inputs)),
    sizeOf(hiddenMessage({ ...inputs, segments: now })),
  )
  const fixedBytes = requestFacts(state, info).bytes
  const { preserveLastN, compressionThreshold: threshold } = spec.context
  return {
    entries,
    hidden: split.filter(isHidden),
    turn: state.turn + 1,
    preserveLastN,
    staysFrom: recoveryOf(state.machine)?.warningTurn ?? Number.POSITIVE_INFINITY,
    pinned: [...compression.pinned, ...asked],
    ...{ inputs, fixedBytes, bytes, threshold },
    tokens: estimateInput(state, fixedBytes),
    limit: contextLimit(spec, info),
  }
}

function entriesOf(as: Segment, told: Pick<Transcript, 'at'>): Entry[] {
  const entries: Entry[] = []
  for (let ordinal = as.from; ordinal < as.to; ordinal++)
    entries.push({ ordinal, ...told.at(ordinal), as: { ...as, from: ordinal, to: ordinal + 1 } })
  return entries
}

const wasHidden = (now: readonly Segment[], as: Segment, ordinal: number): boolean =>
  as.kind === 'keep' && now.some((one) => isHidden(one) && ordinal >= one.from && ordinal < one.to)

/** Splits a hidden range and shows the requested turns. */
function broughtBack(segment: Segment, told: Pick<Transcript, 'at'>, asked: readonly TurnRange[]): Segment[] {
  if (!isHidden(segment) || !asked.some((one) => one.from <= segment.turns.to && one.to >= segment.turns.from))
    return [segment]
  const parts: Segment[] = []
  for (let from = segment.from; from < segment.to; from++) {
    const { turn } = told.at(from)
    const shown = asked.some((one) => turn >= one.from && turn <= one.to)
    const last = parts.at(-1)
    if (last !== undefined && isHidden(last) !== shown)
      parts[parts.length - 1] = isHidden(last)
        ? { ...last, to: from + 1, turns: { from: last.turns.from, to: turn } }
        : { ...last, to: from + 1 }
    else if (shown) parts.push({ kind: 'keep', from, to: from + 1 })
    else parts.push({ ...segment, from, to: from + 1, turns: { from: turn, to: turn } })
  }
  return parts
}
