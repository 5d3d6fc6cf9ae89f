import type { DamagedEvent } from '../../../domain/log/damage.ts'

/**
 * The reason why an event cannot be projected and parks its stream. `GAP`: the event does not follow the one before it
 * in its stream.
 */
export interface Poison {
  readonly code:
    | DamagedEvent['code']
    | 'GAP'
    | 'UNREADABLE'
    | 'UNKNOWN_TYPE'
    | 'NEWER_VERSION'
    | 'ENCIPHERED'
    | 'NOT_JSON'
    | 'SHAPE'
    | 'BLOB_MISSING'
    | 'BODY_MISMATCH'
    | 'ROWS_REFUSED'
  readonly message: string
}
