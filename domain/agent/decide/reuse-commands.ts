import type { Artifact, Attachment, Failure, PlannedCall } from '../../calls/events/event-parts.ts'
import type { ModelOutcome } from '../../calls/model-call.ts'
import type { EventPlace } from '../../log/body-parts.ts'
import type { BodyOf } from '../events/events.ts'

// Recorded outcomes that a fork copies from its source (seed 000, 5.9), reported by the driver.

export interface RecordedOfCall extends Pick<PlannedCall, 'toolName' | 'argumentsHash'> {
  readonly place: EventPlace
  /** Why the call never ran: a person rejected it, or its approval expired. Null: it ran. */
  readonly refused: Failure | null
}

/**
 * A recorded answer. `usage`: the usage when the provider answered. `calls`: in order; null: the record has no outcome
 * that can be copied.
 */
export interface AnswerOfRecord {
  readonly place: EventPlace
  readonly usage: ModelOutcome['usage']
  readonly calls: readonly (RecordedOfCall | null)[]
}

/** A recorded failed attempt. `next`: another attempt, another turn, or the end of the run. */
export interface FailureOfRecord {
  readonly place: EventPlace
  readonly next: 'again' | 'turn' | { readonly code: 'MODEL_FAILED' | 'CONTEXT_OVERFLOW'; readonly why: string }
}

/** The recorded end of a call. `tree`: the files after the call, which are already restored in the fork's workspace. */
export interface CallOfRecord {
  readonly kind: 'tool_reused'
  readonly toolCallId: string
  readonly toolName: string
  readonly attempt: number
  readonly durationMs: number
  readonly place: EventPlace
  readonly end: Omit<BodyOf<'tool_call_end'>, 'step' | 'attempt' | 'durationMs' | 'reused' | 'attachment'>
  readonly attached?: { readonly attachment: Attachment; readonly bytes: Uint8Array }
  readonly tree: string | null
  /** Artifacts of a child that the call started, without content that exists only in the child's streams. */
  readonly artifacts: readonly Artifact[]
}

/** The fork stops following the record: before the open model call, or at a call whose outcome cannot be copied. */
export interface LeaveRecord {
  readonly kind: 'reuse_left'
  readonly turn: number
  readonly toolCallId: string | null
  readonly reason: string
  readonly differs: readonly string[]
  readonly recorded?: EventPlace
}
