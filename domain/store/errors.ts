import type { StreamRejection } from '../stream/aggregate.ts'
import { StreamError } from '../stream/errors.ts'

/** Error codes of a store of context variables. They are stable. */
export type ContextErrorCode =
  | StreamRejection
  | 'VARIABLE_NOT_FOUND'
  | 'STORE_UNKNOWN'
  | 'INVALID_VARIABLE' // a key or a value that cannot be stored
  | 'STORE_FULL'
  | 'NOT_DURABLE' // the store is only in memory

/** An error of a {@link ContextStore}: a missing variable, or a key or value that cannot be stored. */
export class ContextError extends StreamError<ContextErrorCode> {
  override readonly name = 'ContextError'
}

/** The error for a store without events. */
export const noStore = (store: string): ContextError =>
  new ContextError('STORE_UNKNOWN', `there is no store "${store}"; list the stores to find it`)

/** The error for a key that is not set. */
export const variableNotFound = (key: string): ContextError =>
  new ContextError('VARIABLE_NOT_FOUND', `Variable not found: ${key}`)
