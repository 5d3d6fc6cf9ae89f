import { deciderOf, type Emit } from '../../stream/emitter.ts'
import type { Conflict, RefusedAnswer } from '../envelope/answers.ts'
import { DocumentError } from '../errors.ts'
import type { Diagnostic } from '../markup/diagnostics.ts'
import { type DocumentBodyOf, type DocumentEvent, documentBodies, type Received } from './events.ts'
import type { DocumentState } from './state.ts'

/** An edit that the replica has made. */
interface Change {
  readonly update: Uint8Array
  readonly frontier: string
}

/** The decisions of the gateway. The replica has already made and checked each change at the stream's last revision. */
export type DocumentCommand =
  | ({ readonly kind: 'create'; readonly content: Change | null } & DocumentBodyOf<'document_created'>)
  | {
      readonly kind: 'apply'
      readonly received: Received
      readonly change: Change
      readonly diagnostics: readonly Diagnostic[]
      readonly annotations: readonly (string | null)[]
    }
  | { readonly kind: 'refuse'; readonly received: Received; readonly answer: Conflict | RefusedAnswer }
  | { readonly kind: 'import'; readonly change: Change }

type Fold = (state: DocumentState | null, event: DocumentEvent) => DocumentState

/** Decides a command. All its events are in one append. */
export const decideWith = (evolve: Fold) => deciderOf({ bodies: documentBodies, evolve, decide })

function decide(state: DocumentState | null, command: DocumentCommand, emit: Emit<typeof documentBodies>): void {
  if (command.kind === 'create') {
    if (state !== null) throw new DocumentError('DOCUMENT_EXISTS', 'the document was created before')
    const { title, gatewayPeer, source, content } = command
    emit('document_created', { title, gatewayPeer, source })
    if (content !== null) emit('document_updated', { ...stored(content), envelope: null })
    return
  }
  if (command.kind === 'import') return emit('person_updated', stored(command.change))
  emit('envelope_received', command.received)
  if (command.kind === 'refuse') return emit('envelope_refused', { answer: plain(command.answer) })
  const { change, diagnostics, annotations } = command
  const envelope = plain({ diagnostics: diagnostics.map((one) => ({ ...one })), annotations: [...annotations] })
  emit('document_updated', { ...stored(change), envelope })
}

const stored = ({ update, frontier }: Change) => ({ update: Buffer.from(update).toString('base64'), frontier })

/** The value as JSON stores it, without undefined members. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value))
