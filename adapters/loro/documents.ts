import type { PeerID } from 'loro-crdt'
import type { Documents, StoredDocument } from '../../domain/ports/index.ts'
import { operationsOf } from './operations.ts'

/** Documents as Loro replicas in this process. Loro is loaded with the first document. */
export const loroDocuments: Documents = {
  operations: operationsOf,
  async open({ gatewayPeer, snapshot, updates }: StoredDocument) {
    const stored: Uint8Array[] = []
    for await (const update of updates) stored.push(update)
    const [{ LoroDocument }, { Replica }] = await Promise.all([import('./open-document.ts'), import('./replica.ts')])
    const peer = gatewayPeer as PeerID
    return new LoroDocument(new Replica(peer, snapshot ?? null, stored), peer)
  },
}
