import type { DocumentAggregate } from '../../document/stream/aggregate.ts'
import type { DocumentEvent } from '../../document/stream/events.ts'
import type { DocumentState } from '../../document/stream/state.ts'
import { Snapshots } from '../stream/snapshots.ts'

/** Snapshots of the fold of a document's stream. The replica's are kept apart. */
export const snapshotsOf = (aggregate: DocumentAggregate) =>
  new Snapshots<DocumentState, DocumentEvent>(aggregate, {
    members: ['title', 'gatewayPeer', 'frontier', 'root', 'updates'],
    keep: (state) => state,
    step: () => 0,
    whole: async (_, __, kept) => kept as DocumentState,
  })
