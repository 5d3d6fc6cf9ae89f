import { external } from '../../domain/external/aggregate.ts'
import { set } from '../agent/changes.ts'
import { rowRules } from '../engine/changes/projection.ts'
import { decodeExternalEvent } from './decode.ts'
import { externalChanges } from './rows.ts'

/** Converts the stream of an external run to rows, in the tables of agents. */
export const externalRows = rowRules(
  external,
  {},
  {
    decode: decodeExternalEvent,
    changes: externalChanges,
    parked: (id, revision) => [set('agents', { id }, { incomplete_from: revision })],
  },
)
