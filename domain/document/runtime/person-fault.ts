import type { ImportedUpdate } from '../../ports/index.ts'
import { DocumentError, type DocumentErrorCode } from '../errors.ts'

type Refused = Extract<ImportedUpdate, { kind: 'refused' }>

const CODES: Readonly<Record<Refused['reason'], DocumentErrorCode>> = {
  malformed: 'UPDATE_MALFORMED',
  gateway_peer: 'UPDATE_OF_GATEWAY',
  missing_dependencies: 'UPDATE_INCOMPLETE',
  outside_model: 'UPDATE_OUTSIDE_MODEL',
  too_many_operations: 'UPDATE_TOO_LARGE',
}

/** The refusal of a person's update. */
export const personFault = ({ reason, message }: Refused): DocumentError => new DocumentError(CODES[reason], message)
