import type { RecordedEvent } from '../../log/envelope.ts'
import type { BlobStore, EventLog } from '../../ports/index.ts'
import { bodyOf } from '../../stream/runtime/bodies.ts'
import type { AnchorKind, ProofEvent } from '../events.ts'
import { PROOF_STREAM, proof } from '../kind.ts'

export interface FactStores {
  readonly log: EventLog
  /** Large facts, such as an anchor with a long receipt, have their bodies here. */
  readonly blobs: BlobStore
}

export interface ProofFact {
  readonly recorded: RecordedEvent
  /** Why the fact cannot be read, if it cannot. */
  readonly event: ProofEvent | Error
}

/** The facts about the log's keys and anchors, also those that cannot be read. */
export async function* proofFacts(stores: FactStores): AsyncGenerator<ProofFact> {
  for await (const page of stores.log.read(PROOF_STREAM))
    for (const recorded of page) yield { recorded, event: await decoded(stores, recorded) }
}

async function decoded(stores: FactStores, recorded: RecordedEvent): Promise<ProofEvent | Error> {
  try {
    const event = proof.decode(recorded.header, await bodyOf(stores, recorded)) as ProofEvent
    const fault = proof.fault(event)
    return fault === null ? event : new Error(fault)
  } catch (error) {
    return error as Error
  }
}

/** A place that the log has used as an anchor. */
export interface UsedPlace {
  readonly anchor: string
  readonly kind: AnchorKind
  readonly target: string
  /** The key of a witness. */
  readonly vkey: string | undefined
  /** A person removed the anchor, or gave its name to another place. */
  readonly removed: boolean
  /** The size of the last head that it got, according to the log, for each origin. */
  readonly left: ReadonlyMap<string, number>
}

/** Every place that the facts in the log name as an anchor, also former ones, and the log's origins. */
export async function usedPlaces(
  stores: FactStores,
): Promise<{ readonly places: readonly UsedPlace[]; readonly origins: readonly string[] }> {
  const places = new Map<string, Omit<UsedPlace, 'left'> & { left: Map<string, number> }>()
  const origins: string[] = []
  const removed = (anchor: string) => {
    for (const [key, place] of places) if (place.anchor === anchor) places.set(key, { ...place, removed: true })
  }
  for await (const { event } of proofFacts(stores)) {
    if (event instanceof Error) continue
    const { type, body } = event
    if (type === 'log_key_created') origins.push(body.origin)
    else if (type === 'anchor_removed') removed(body.anchor)
    else if (type === 'anchor_added' || type === 'anchor_made') {
      const { anchor, kind, target } = body
      const key = JSON.stringify([anchor, kind, target])
      const known = places.get(key)
      const left = known?.left ?? new Map<string, number>()
      if (type === 'anchor_made') {
        left.set(body.origin, body.size)
        if (known === undefined) places.set(key, { anchor, kind, target, vkey: undefined, removed: true, left })
      } else {
        removed(anchor)
        // A person can empty a place between its removal and its return, so it owes nothing of before.
        const before = places.get(key)
        if (before !== undefined) places.set(`${key} ${places.size}`, before)
        places.set(key, { anchor, kind, target, vkey: body.vkey, removed: false, left: new Map() })
      }
    }
  }
  return { places: [...places.values()], origins }
}
