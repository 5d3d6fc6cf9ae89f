import type { PeerID } from 'loro-crdt'
import type { Documents, StoredDocument } from '../../domain/ports.ts'
import { operationsOf } from './authorship.ts'
import { LoroDocument } from './open-document.ts'
import { Replica } from './replica.ts'

/** Documents as Loro replicas in this process. */
export const loroDocuments: Documents = {
  operations: operationsOf,
  async open({ gatewayPeer, snapshot, updates }: StoredDocument) {
    const stored: Uint8Array[] = []
    for await (const update of updates) stored.push(update)
    const peer = gatewayPeer as PeerID
    return new LoroDocument(new Replica(peer, snapshot ?? null, stored), peer)
  },
}
