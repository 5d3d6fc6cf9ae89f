import { deciderOf, type Emit } from '../../stream/emitter.ts'
import type { Conflict, RefusedAnswer } from '../envelope/answers.ts'
import { DocumentError } from '../errors.ts'
import type { Diagnostic } from '../markup/diagnostics.ts'
import { type DocumentBodyOf, type DocumentEvent, documentBodies, type Received } from './events.ts'
import { type DocumentState, MAX_OPEN_THREADS, type OpenThread } from './state.ts'

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
  | ({ readonly kind: 'comment' } & DocumentBodyOf<'comment_added'>)
  | ({ readonly kind: 'suggest' } & DocumentBodyOf<'suggestion_made'>)
  | ({ readonly kind: 'reply' } & DocumentBodyOf<'reply_added'>)
  | ({ readonly kind: 'resolve_comment' } & DocumentBodyOf<'comment_resolved'>)
  | ({ readonly kind: 'accept_suggestion'; readonly change: Change } & DocumentBodyOf<'suggestion_accepted'>)
  | ({ readonly kind: 'refuse_suggestion' } & DocumentBodyOf<'suggestion_refused'>)

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
  if (command.kind !== 'apply' && command.kind !== 'refuse') return discuss(state, command, emit)
  emit('envelope_received', command.received)
  if (command.kind === 'refuse') return emit('envelope_refused', { answer: plain(command.answer) })
  const { change, diagnostics, annotations } = command
  const envelope = plain({ diagnostics: diagnostics.map((one) => ({ ...one })), annotations: [...annotations] })
  emit('document_updated', { ...stored(change), envelope })
}

type Discussing = Exclude<DocumentCommand, { readonly kind: 'create' | 'apply' | 'refuse' | 'import' }>

function discuss(state: DocumentState | null, asked: Discussing, emit: Emit<typeof documentBodies>): void {
  const open = state?.open ?? {}
  if (asked.kind === 'comment' || asked.kind === 'suggest') {
    if (Object.keys(open).length >= MAX_OPEN_THREADS)
      throw new DocumentError(
        'TOO_MANY_COMMENTS',
        `the document has ${MAX_OPEN_THREADS} open comments and suggestions; settle some of them first`,
      )
    if (asked.kind === 'suggest') {
      const { kind: _, ...body } = asked
      return emit('suggestion_made', body)
    }
    const { comment, anchor, text } = asked
    return emit('comment_added', { comment, anchor, text })
  }
  if (asked.kind === 'reply') {
    mustBeOpen(open, asked.thread, null)
    return emit('reply_added', { thread: asked.thread, text: asked.text })
  }
  if (asked.kind === 'resolve_comment') {
    mustBeOpen(open, asked.comment, 'comment')
    return emit('comment_resolved', { comment: asked.comment })
  }
  const { suggestion } = asked
  mustBeOpen(open, suggestion, 'suggestion')
  if (asked.kind === 'refuse_suggestion') return emit('suggestion_refused', { suggestion, reason: asked.reason })
  emit('suggestion_accepted', { suggestion })
  emit('person_updated', stored(asked.change))
}

/** `kind` null: a comment or a suggestion. */
function mustBeOpen(open: NonNullable<DocumentState['open']>, id: string, kind: OpenThread['kind'] | null): void {
  const found = Object.hasOwn(open, id) ? open[id] : undefined
  const what = kind ?? 'comment or suggestion'
  if (found === undefined) throw new DocumentError('COMMENT_SETTLED', `no ${what} "${id}" is open`)
  if (kind !== null && found.kind !== kind)
    throw new DocumentError('COMMENT_UNKNOWN', `"${id}" is a ${found.kind}, not a ${kind}`)
}

const stored = ({ update, frontier }: Change) => ({ update: Buffer.from(update).toString('base64'), frontier })

/** The value as JSON stores it, without undefined members. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value))
