import type { StreamRejection } from '../stream/aggregate.ts'

/** The failure of a fact's operation. `message` says what to do. */
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
  | 'MEMORY_FORGOTTEN' // it was forgotten, so it is not changed any more
  | 'MEMORY_EXISTS' // the stream was begun before: a programming error
