import { ContentionError } from '../../stream/runtime/errors.ts'
import type { Asking } from '../../stream/runtime/mailbox.ts'
import type { DocumentContext } from '../stream/decide.ts'
import type { Caller } from './types.ts'

/** How often a request is judged again because other writers were faster. */
export const MAX_RACES = 20

export const contention = (stream: string): ContentionError =>
  new ContentionError(`other writers of ${stream} were faster ${MAX_RACES} times; try again`)

/** What a caller's command says of itself in the log. */
export const askingOf = (
  { name: _, holdsSecret: __, ...caller }: Caller,
  commandId: string,
): Asking<DocumentContext> => ({
  ...caller,
  commandId,
})
