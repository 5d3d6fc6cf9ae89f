import type { DamagedEvent } from '../../../domain/log/damage.ts'

/** Why an event cannot be projected and parks its stream. `GAP`: it does not follow the event before it. */
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
