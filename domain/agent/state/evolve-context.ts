import { textOf } from '../../calls/requested-calls.ts'
import { headOf } from '../../calls/truncate.ts'
import { ImpossibleEvent } from '../../stream/impossible.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import { type Compression, isHidden } from '../window/compression-state.ts'
import { type AgentState, isFinished, turnIsOpen } from './state.ts'

// The fold of context compression and knowledge (seed 000, 5.11).

/** The longest summary, in UTF-8 bytes. */
export const SUMMARY_BYTES = 16_384

const changed = (state: AgentState, change: Partial<Compression>): AgentState => ({
  ...state,
  compression: { ...state.compression, ...change },
})

/** Throws ImpossibleEvent unless this summary attempt is open. */
function mustBeOpen({ compression: { summarizing } }: AgentState, event: AgentEvent, attempt: number): void {
  if (summarizing?.attempt !== attempt) throw new ImpossibleEvent(event, `summary attempt ${attempt} is not open`)
}

export function summaryBegun(state: AgentState, event: EventOf<'model_call_start'>): AgentState {
  const { compression } = state
  const { attempt, model, estimate, request } = event.body
  if (turnIsOpen(state) || isFinished(state)) throw new ImpossibleEvent(event, 'summaries are made between turns')
  if (compression.summarizing !== null) throw new ImpossibleEvent(event, 'a summary is being made')
  if (attempt !== compression.attempts + 1)
    throw new ImpossibleEvent(event, `summary attempt ${compression.attempts + 1} is next`)
  const epoch = state.driver?.epoch ?? 0
  const segments = request.segments ?? []
  const summarizing = { model, attempt, epoch, estimate, since: event.revision, segments }
  return changed(state, { summarizing, attempts: attempt })
}

/** The model answered. A later event records whether its answer is used. */
export function evolveSummaryAnswer(state: AgentState, event: EventOf<'model_call_end'>): AgentState {
  mustBeOpen(state, event, event.body.attempt)
  const text = headOf(textOf(event.body.content), SUMMARY_BYTES)
  return changed(state, { summarizing: null, draft: { revision: event.revision, hash: event.bodyHash, text } })
}

export function summaryLost(state: AgentState, event: EventOf<'model_attempt_lost'>): AgentState {
  mustBeOpen(state, event, event.body.attempt)
  return changed(state, { summarizing: null, failed: state.compression.failed + 1 })
}

export function evolveSummaryFailure(state: AgentState, event: EventOf<'summary_failed'>): AgentState {
  const { draft, failed } = state.compression
  if (draft === null) mustBeOpen(state, event, event.body.attempt)
  return changed(state, { summarizing: null, draft: null, failed: failed + 1 })
}

/** The segments that later requests show, and their tokens. */
export function compressed(state: AgentState, event: EventOf<'context_compressed'>): AgentState {
  const { segments, tokens } = event.body
  const { compression, messages } = state
  if (turnIsOpen(state)) throw new ImpossibleEvent(event, 'contexts are compressed between turns')
  if (compression.summarizing !== null) throw new ImpossibleEvent(event, 'a summary is being made')
  if (segments.reduce((at, { from, to }) => (from === at ? to : -1), 0) !== messages.count)
    throw new ImpossibleEvent(event, `its segments are not those of ${messages.count} messages`)
  const revision = segments.find((segment) => segment.kind === 'summary')?.revision
  const summary = [compression.draft, compression.summary].find((one) => one?.revision === revision) ?? null
  if (segments.some((one) => one.kind === 'summary' && one.revision !== summary?.revision))
    throw new ImpossibleEvent(event, 'there is no such summary')
  const { expanding, pinned } = compression
  const next = changed(state, {
    segments: segments.every(({ kind }) => kind === 'keep') ? [] : segments,
    ...{ summary, draft: null, failed: 0, knowledgeDue: compression.knowledge !== null },
    ...(event.body.reason === 'expanded' ? { expanding: [], pinned: [...pinned, ...expanding] } : {}),
  })
  return { ...next, context: { tokens: tokens.after, bytes: 0 } }
}

/** The most pending requests for hidden turns. One more request expands all turns. */
const MOST_EXPANDING = 32

export function expandedBy(state: AgentState, { body, ...event }: EventOf<'context_expanded'>): AgentState {
  const hidden = state.compression.segments.filter(isHidden)
  if (hidden.length === 0) throw new ImpossibleEvent({ ...event, body } as AgentEvent, 'no turn is hidden')
  const all = { from: 0, to: state.turn }
  const { expanding } = state.compression
  if (body.turns === undefined || expanding.length >= MOST_EXPANDING) return changed(state, { expanding: [all] })
  return changed(state, { expanding: [...expanding, body.turns] })
}

/** The turns that a person brought back have been shown once. */
export const unpinned = (compression: Compression): Compression =>
  compression.pinned.length === 0 ? compression : { ...compression, pinned: [] }

export function knowledgeAdded(state: AgentState, event: EventOf<'knowledge_added'>): AgentState {
  const { items } = event.body
  return changed(state, {
    knowledge: { revision: event.revision, hash: event.bodyHash, items },
    knowledgeDue: false,
  })
}
