import { canonicalText } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import { GENESIS, hashAfter } from '../../log/seal.ts'
import { type DocumentEvent, type UpdateEvent, updateBytes } from './events.ts'

/**
 * The folded state of a document's stream. It excludes the content: a replica imports the updates and is compared with
 * `frontier` and `root`.
 */
export interface DocumentState {
  readonly title: string
  readonly gatewayPeer: string
  /** The frontier after the last update; empty before the first update. */
  readonly frontier: string
  /** Rolling hash over all updates in order; see {@link nextRoot}. */
  readonly root: string
  /** The number of updates. */
  readonly updates: number
}

/** Increase this when the digested view changes. */
export const DOCUMENT_FOLD = 1

const NONE: DocumentState = { title: '', gatewayPeer: '', frontier: '', root: GENESIS, updates: 0 }

/** The state of `gateway-refused`. Its requests belong to no document. */
export const noDocument = (_: DocumentState | null, event: DocumentEvent): DocumentState => {
  if (!OF_REFUSALS.has(event.type)) throw new Error(`${event.type} outside of a document`)
  return NONE
}
const OF_REFUSALS: ReadonlySet<string> = new Set(['envelope_received', 'envelope_refused', 'residue', 'erased'])

/** The state after an event. Throws if the event cannot follow. */
export function evolveDocument(state: DocumentState | null, event: DocumentEvent): DocumentState {
  if (event.type === 'document_created') {
    if (state !== null) throw new Error('the document was created before')
    const { title, gatewayPeer } = event.body
    return { ...NONE, title, gatewayPeer }
  }
  if (state === null) throw new Error(`${event.type} before document_created`)
  return event.type === 'document_updated' || event.type === 'person_updated' ? updated(state, event) : state
}

const updated = (state: DocumentState, event: UpdateEvent): DocumentState => ({
  ...state,
  frontier: event.body.frontier,
  root: nextRoot(state.root, updateBytes(event)),
  updates: state.updates + 1,
})

/** The root after an update: SHA-256 over the previous root and the update's SHA-256. */
export const nextRoot = (root: string, update: Uint8Array): string => hashAfter(root, sha256(update))

export const documentDigest = (state: DocumentState): string => sha256(canonicalText(state))
