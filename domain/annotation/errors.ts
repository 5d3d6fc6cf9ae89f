import type { StreamRejection } from '../stream/aggregate.ts'
import { StreamError } from '../stream/errors.ts'

/** A refused change of a run's tags or notes. `message` says what to do. */
export class AnnotationError extends StreamError<AnnotationErrorCode> {
  override readonly name = 'AnnotationError'
}

/** The code of an {@link AnnotationError}. */
export type AnnotationErrorCode = StreamRejection | 'NOTE_UNKNOWN' | 'TOO_MANY_TAGS' | 'TOO_MANY_NOTES'
