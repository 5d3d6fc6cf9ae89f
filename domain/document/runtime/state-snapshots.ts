import { Snapshots } from '../../stream/runtime/snapshots.ts'
import type { DocumentAggregate } from '../stream/aggregate.ts'
import type { DocumentEvent } from '../stream/events.ts'
import type { DocumentState } from '../stream/state.ts'

/** Snapshots of a document stream's folded state. Replica snapshots are stored separately. */
export const snapshotsOf = (aggregate: DocumentAggregate) =>
  new Snapshots<DocumentState, DocumentEvent>(aggregate, {
    members: ['title', 'gatewayPeer', 'frontier', 'root', 'updates'],
    keep: (state) => state,
    step: () => 0,
    whole: async (_, __, kept) => kept as DocumentState,
  })
