import type { ModelOutcome } from '../../calls/model-call.ts'
import type { Artifact, Attachment, BodyOf, Failure, PlannedCall } from '../events/events.ts'
import type { Place } from '../events/reuse.ts'

// Outcomes that a fork takes from the record of its source (seed 000, 5.9), from the driver.

/** The record of one call of an answer. */
export interface RecordedOfCall extends Pick<PlannedCall, 'toolName' | 'argumentsHash'> {
  readonly place: Place
  /** It never ran: a person had rejected it, or its approval had expired. */
  readonly refused: Failure | null
}

/** An answer of the record. `usage`: what it took. `calls`: in order; null: the record has no outcome that could be taken. */
export interface AnswerOfRecord {
  readonly place: Place
  readonly usage: ModelOutcome['usage']
  readonly calls: readonly (RecordedOfCall | null)[]
}

/** A failed attempt of the record. `next`: another attempt, another turn, or the end of the run. */
export interface FailureOfRecord {
  readonly place: Place
  readonly next: 'again' | 'turn' | { readonly code: 'MODEL_FAILED' | 'CONTEXT_OVERFLOW'; readonly why: string }
}

/** The end of a call, from the record. `tree`: the files that it left, which are back in the fork's own folder. */
export interface CallOfRecord {
  readonly kind: 'tool_reused'
  readonly toolCallId: string
  readonly toolName: string
  readonly attempt: number
  readonly durationMs: number
  readonly place: Place
  readonly end: Omit<BodyOf<'tool_call_end'>, 'step' | 'attempt' | 'durationMs' | 'reused' | 'attachment'>
  readonly attached?: { readonly attachment: Attachment; readonly bytes: Uint8Array }
  readonly tree: string | null
  /** Artifacts of an agent that the call had started; without what stands in the streams of that agent. */
  readonly artifacts: readonly Artifact[]
}

/** The record is left for good: before the open model call of the turn, or at a call, whose outcome cannot be taken. */
export interface LeaveRecord {
  readonly kind: 'reuse_left'
  readonly turn: number
  readonly toolCallId: string | null
  readonly reason: string
  readonly differs: readonly string[]
  readonly recorded?: Place
}
