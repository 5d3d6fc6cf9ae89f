import { canonicalBytes } from '../../log/canonical.ts'
import { saltBody } from '../../log/seal.ts'
import type { Decision, Draft, Place, StreamContext } from '../../stream/aggregate.ts'
import type { Conflict, Refused } from '../envelope/answers.ts'
import { DocumentError } from '../errors.ts'
import type { Diagnostic } from '../markup/diagnostics.ts'
import { type BodyOf, bodies, type DocumentEvent, type DocumentEventType, type Received } from './events.ts'
import type { DocumentState } from './state.ts'

/** An edit that the replica has made. */
export interface Change {
  readonly update: Uint8Array
  readonly frontier: string
}

/** The decisions of the gateway. The replica has already made and checked each change at the stream's last revision. */
export type DocumentCommand =
  | ({ readonly kind: 'create'; readonly content: Change | null } & BodyOf<'document_created'>)
  | {
      readonly kind: 'apply'
      readonly received: Received
      readonly change: Change
      readonly diagnostics: readonly Diagnostic[]
      readonly annotations: readonly (string | null)[]
    }
  | { readonly kind: 'refuse'; readonly received: Received; readonly answer: Conflict | Refused }
  | { readonly kind: 'import'; readonly change: Change }

/** The run and the call behind a request; absent for a person's request. */
export interface DocumentContext extends StreamContext {
  readonly runId?: string
  readonly toolCallId?: string
  /** `<stream>@<revision>` of the call's intent. */
  readonly causationId?: string
}

type Fold = (state: DocumentState | null, event: DocumentEvent) => DocumentState

/** Decides a command. All its events are in one append. */
export const decideWith =
  (fold: Fold) =>
  (
    state: DocumentState | null,
    place: Place,
    command: DocumentCommand,
    context: DocumentContext,
  ): Decision<DocumentState, DocumentEvent> => {
    const drafts: Draft<DocumentState, DocumentEvent>[] = []
    let after = state
    const emit = <T extends DocumentEventType>(type: T, given: BodyOf<T>) => {
      const body = saltBody(canonicalBytes(bodies[type].parse(given)), context.salt())
      const { commandId, by, runId, toolCallId, causationId, correlationId } = context
      const event = {
        ...{ type, body: given, revision: place.revision + 1 + drafts.length, at: context.now },
        ...{ commandId, actor: by, bodyHash: body.header.hash },
        ...(runId === undefined ? {} : { runId }),
        ...(toolCallId === undefined ? {} : { toolCallId }),
        ...(causationId === undefined ? {} : { causationId }),
        ...(correlationId === undefined ? {} : { correlationId }),
      } as unknown as DocumentEvent
      after = fold(after, event)
      drafts.push({ event, body, after, checkpoint: false })
    }
    if (command.kind === 'create') {
      if (state !== null) throw new DocumentError('DOCUMENT_EXISTS', 'the document was created before')
      const { title, gatewayPeer, source, content } = command
      emit('document_created', { title, gatewayPeer, source })
      if (content !== null) emit('document_updated', { ...stored(content), envelope: null })
    } else if (command.kind === 'import') {
      emit('person_updated', stored(command.change))
    } else {
      emit('envelope_received', command.received)
      if (command.kind === 'refuse') emit('envelope_refused', { answer: plain(command.answer) })
      else {
        const { change, diagnostics, annotations } = command
        const envelope = plain({ diagnostics, annotations }) as BodyOf<'document_updated'>['envelope']
        emit('document_updated', { ...stored(change), envelope })
      }
    }
    return { drafts, state: after }
  }

const stored = ({ update, frontier }: Change) => ({ update: Buffer.from(update).toString('base64'), frontier })

/** The value as JSON stores it, without undefined members. */
const plain = <T>(value: T): never => JSON.parse(JSON.stringify(value)) as never
