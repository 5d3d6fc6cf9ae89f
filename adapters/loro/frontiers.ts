import type { LoroDoc, OpId, PeerID } from 'loro-crdt'
import { type Frontier, type FrontierRelation, relationOf } from '../../domain/document/model/frontier.ts'

const frontierOf = (ids: readonly OpId[]): Frontier => ids.map(({ peer, counter }) => ({ peer: BigInt(peer), counter }))

export const documentFrontier = (doc: LoroDoc): Frontier => frontierOf(doc.oplogFrontiers())

/** The relation of a client's frontier to the document's frontier. */
export function relationTo(doc: LoroDoc, client: Frontier, frontier: Frontier): FrontierRelation {
  let version: ReturnType<LoroDoc['oplogVersion']> | null = null
  const known = (peer: bigint): number => {
    version ??= doc.oplogVersion()
    return version.get(`${peer}` as PeerID) ?? 0
  }
  return relationOf(client, frontier, known)
}
