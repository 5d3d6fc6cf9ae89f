import type { StreamRejection } from '../stream/aggregate.ts'
import { StreamError } from '../stream/errors.ts'

/** A refused change of a run's tags or notes. `message` says what to do. */
export class AnnotationError extends StreamError<AnnotationErrorCode> {
  override readonly name = 'AnnotationError'
}

/** The code of an {@link AnnotationError}. */
export type AnnotationErrorCode = StreamRejection | 'NOTE_UNKNOWN' | 'TOO_MANY_TAGS' | 'TOO_MANY_NOTES'

/** The error for a number that is no note of the run. */
export const noteUnknown = (note: number): AnnotationError =>
  new AnnotationError('NOTE_UNKNOWN', `the run has no note ${note}; list its notes to find it`, { why: 'absent' })
