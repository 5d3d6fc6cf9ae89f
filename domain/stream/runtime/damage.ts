import { CommandRejected } from '../../calls/errors.ts'
import { isStreamDamage } from '../../log/damage.ts'
import { LogError } from '../../log/errors.ts'

/** Errors of one stream, besides damage of the log, that reading again does not change. */
const UNFOLDABLE: ReadonlySet<string> = new Set(['BLOB_MISSING', 'BODY_ERASED', 'UNKNOWN_EVENT', 'FOLD_DIFFERS'])

/** The code of an error if it means that one stream cannot be folded; null: the stores do not answer. */
export function damageIn(error: unknown): string | null {
  if (error instanceof CommandRejected) return error.code
  if (error instanceof LogError) return UNFOLDABLE.has(error.code) || isStreamDamage(error) ? error.code : null
  // A bug in the fold throws an error without a code; system errors and timeouts have one.
  return (error as { code?: unknown } | null)?.code === undefined ? 'UNREADABLE' : null
}
