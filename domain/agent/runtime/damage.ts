import { CommandRejected } from '../../calls/errors.ts'
import { isStreamDamage } from '../../log/damage.ts'
import { LogError } from '../../log/errors.ts'

/** Errors of one stream, beside damage of the log: reading it again gives the same. */
const UNFOLDABLE: ReadonlySet<string> = new Set(['BLOB_MISSING', 'BODY_ERASED', 'UNKNOWN_EVENT', 'FOLD_DIFFERS'])

/** The code of an error that tells that one stream cannot be folded; null: the stores do not answer. */
export function damageIn(error: unknown): string | null {
  if (error instanceof CommandRejected) return error.code
  if (error instanceof LogError) return UNFOLDABLE.has(error.code) || isStreamDamage(error) ? error.code : null
  // A defect met while folding bears no code; errors of systems and time limits do.
  return (error as { code?: unknown } | null)?.code === undefined ? 'UNREADABLE' : null
}
