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
  /** The open comments and suggestions by id. Absent: none. */
  readonly open?: Readonly<Record<string, OpenThread>>
}

/** `revision`: of the event that added it. */
export interface OpenThread {
  readonly kind: 'comment' | 'suggestion'
  readonly revision: number
}

/** The maximum number of open comments and suggestions. Each event that opens or settles one hashes all of them. */
export const MAX_OPEN_THREADS = 1000

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
  switch (event.type) {
    case 'document_updated':
    case 'person_updated':
      return updated(state, event)
    case 'comment_added':
      return opened(state, event.body.comment, { kind: 'comment', revision: event.revision })
    case 'suggestion_made':
      return opened(state, event.body.suggestion, { kind: 'suggestion', revision: event.revision })
    case 'reply_added':
      mustBeOpen(state, event.body.thread)
      return state
    case 'comment_resolved':
      return settled(state, event.body.comment, 'comment')
    case 'suggestion_accepted':
    case 'suggestion_refused':
      return settled(state, event.body.suggestion, 'suggestion')
    default:
      return state
  }
}

function opened(state: DocumentState, id: string, thread: OpenThread): DocumentState {
  if (Object.hasOwn(state.open ?? {}, id)) throw new Error(`"${id}" was added before`)
  return { ...state, open: { ...state.open, [id]: thread } }
}

function settled(state: DocumentState, id: string, kind: OpenThread['kind']): DocumentState {
  if (mustBeOpen(state, id).kind !== kind) throw new Error(`"${id}" is not a ${kind}`)
  const { open: { [id]: _, ...left } = {}, ...rest } = state
  return Object.keys(left).length === 0 ? rest : { ...rest, open: left }
}

function mustBeOpen({ open = {} }: DocumentState, id: string): OpenThread {
  if (!Object.hasOwn(open, id)) throw new Error(`no comment or suggestion "${id}" is open`)
  return open[id]!
}

const updated = (state: DocumentState, event: UpdateEvent): DocumentState => ({
  ...state,
  frontier: event.body.frontier,
  root: nextRoot(state.root, updateBytes(event)),
  updates: state.updates + 1,
})

/** The root after an update: SHA-256 over the previous root and the update's SHA-256. */
export const nextRoot = (root: string, update: Uint8Array): string => hashAfter(root, sha256(update))
