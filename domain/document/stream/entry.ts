import type { Actor } from '../../log/envelope.ts'
import { instantText } from '../../log/instant.ts'
import type { DocumentEvent } from './events.ts'

/** One append to a document's stream: a request with its answer, or an update of a person. */
export interface HistoryEntry {
  /** The revision of the append's last event. */
  readonly revision: number
  /** ISO 8601. */
  readonly at: string
  readonly by: Actor
  readonly kind: 'created' | 'applied' | 'refused' | 'imported'
  readonly runId?: string
  readonly toolCallId?: string
  readonly clientRequestId?: string
  readonly retryOf?: { readonly first: string; readonly retry: number }
  readonly annotations?: readonly (string | null)[]
  /** The HTTP status of a refusal. */
  readonly status?: number
  readonly code?: string
}

/**
 * The history entry of an event, or null.
 *
 * @param before the preceding event: for an answer, its request
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
      return { ...place, kind: 'imported' }
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
