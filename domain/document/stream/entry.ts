import type { Actor } from '../../log/envelope.ts'
import { instantText } from '../../log/instant.ts'
import type { DocumentEvent } from './events.ts'

/** One append to a document's stream: a request with its answer, an update of a person, or a step of a discussion. */
export interface HistoryEntry {
  /** The revision of the append's last event. */
  readonly revision: number
  /** ISO 8601. */
  readonly at: string
  readonly by: Actor
  readonly kind: (typeof ENTRY_KINDS)[number]
  readonly runId?: string
  readonly toolCallId?: string
  readonly clientRequestId?: string
  readonly retryOf?: { readonly first: string; readonly retry: number }
  readonly annotations?: readonly (string | null)[]
  /** The HTTP status of a refusal. */
  readonly status?: number
  readonly code?: string
  /** The comment or suggestion that the entry is about. */
  readonly thread?: string
}

export const ENTRY_KINDS = [
  'created',
  'applied',
  'refused',
  'imported',
  'commented',
  'suggested',
  'replied',
  'resolved',
  'suggestion accepted',
  'suggestion refused',
] as const

/**
 * The history entry of an event, or null.
 *
 * @param before the preceding event: for an answer, its request; for an accepted suggestion, the acceptance
 */
export function entryOf(event: DocumentEvent, before: DocumentEvent | null): HistoryEntry | null {
  const { revision, actor, runId, toolCallId } = event
  const place = {
    ...{ revision, at: instantText(event.at), by: actor },
    ...(runId === undefined ? {} : { runId }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
  }
  switch (event.type) {
    case 'document_created':
      return { ...place, kind: 'created' }
    case 'person_updated':
      return before?.type === 'suggestion_accepted' && before.revision === revision - 1
        ? { ...place, kind: 'suggestion accepted', thread: before.body.suggestion }
        : { ...place, kind: 'imported' }
    case 'comment_added':
      return { ...place, kind: 'commented', thread: event.body.comment }
    case 'suggestion_made':
      return { ...place, kind: 'suggested', thread: event.body.suggestion }
    case 'reply_added':
      return { ...place, kind: 'replied', thread: event.body.thread }
    case 'comment_resolved':
      return { ...place, kind: 'resolved', thread: event.body.comment }
    case 'suggestion_refused':
      return { ...place, kind: 'suggestion refused', thread: event.body.suggestion }
    case 'document_updated':
      if (event.body.envelope === null) return { ...place, kind: 'created' }
      return { ...place, kind: 'applied', ...requestOf(before), annotations: event.body.envelope.annotations }
    case 'envelope_refused': {
      const { status, body } = event.body.answer
      return { ...place, kind: 'refused', ...requestOf(before), status, code: String(body.code) }
    }
    default:
      return null
  }
}

function requestOf(event: DocumentEvent | null): Pick<HistoryEntry, 'clientRequestId' | 'retryOf'> {
  if (event?.type !== 'envelope_received') return {}
  const { request, retryOf } = event.body
  return {
    ...(request === null ? {} : { clientRequestId: request.client_request_id }),
    ...(retryOf === undefined ? {} : { retryOf }),
  }
}
