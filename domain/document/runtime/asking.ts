import type { CausedContext } from '../../stream/emitter.ts'
import { ContentionError } from '../../stream/runtime/errors.ts'
import type { Asking } from '../../stream/runtime/mailbox.ts'
import type { DocumentCaller } from './types.ts'

/** The maximum number of attempts at one request while other writers append first. */
export const MAX_RACES = 20

export const contention = (stream: string): ContentionError =>
  new ContentionError(`other writers of ${stream} were faster ${MAX_RACES} times; try again`)

/** The members of a command's header that come from its caller. */
export const askingOf = (
  { name: _, holdsSecret: __, ...caller }: DocumentCaller,
  commandId: string,
): Asking<CausedContext> => ({
  ...caller,
  commandId,
})
