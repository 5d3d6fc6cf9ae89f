import type { LoroDoc, OpId, PeerID } from 'loro-crdt'
import { type Frontier, type FrontierRelation, frontierText, relationOf } from '../../domain/document/model/frontier.ts'

const frontierOf = (ids: readonly OpId[]): Frontier => ids.map(({ peer, counter }) => ({ peer: BigInt(peer), counter }))

export const documentFrontier = (doc: LoroDoc): string => frontierText(frontierOf(doc.oplogFrontiers()))

export function relationTo(doc: LoroDoc, client: Frontier): FrontierRelation {
  const version = doc.oplogVersion()
  return relationOf(client, frontierOf(doc.oplogFrontiers()), (peer) => version.get(`${peer}` as PeerID) ?? 0)
}
