import type { StreamRejection } from '../stream/aggregate.ts'
import { StreamError } from '../stream/errors.ts'

/** A failed operation on a fact. `message` says what to do. */
export class MemoryError extends StreamError<MemoryErrorCode> {
  override readonly name = 'MemoryError'
}

/** The code of a {@link MemoryError}. */
export type MemoryErrorCode =
  | StreamRejection
  | 'MEMORY_UNKNOWN'
  | 'MEMORY_FORGOTTEN' // a forgotten fact cannot change
  | 'MEMORY_EXISTS' // the stream exists already: a programming error
