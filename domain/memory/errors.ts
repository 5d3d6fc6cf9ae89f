import type { StreamRejection } from '../stream/aggregate.ts'

/** A failed operation on a fact. `message` says what to do. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError'
  readonly code: MemoryErrorCode
  constructor(code: MemoryErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type MemoryErrorCode =
  | StreamRejection
  | 'MEMORY_UNKNOWN'
  | 'MEMORY_FORGOTTEN' // a forgotten fact cannot change
  | 'MEMORY_EXISTS' // the stream exists already: a programming error
