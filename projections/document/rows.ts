import type { DocumentEvent } from '../../domain/document/stream/events.ts'
import { idOf } from '../../domain/log/owner.ts'
import { type Change, changesIn } from '../engine/changes/change.ts'
import type { Projected } from '../engine/changes/projection.ts'
import { actorText, cut } from '../engine/text.ts'
import type { documentTables } from './tables.ts'

const { put, set } = changesIn<typeof documentTables>()

export function documents({ header, position, event }: Projected<DocumentEvent>): Change[] {
  if (event === null) return []
  const id = idOf(header.stream)
  const [at, by] = [header.timestamp, actorText(header.actor)]
  if (event.type === 'document_created') {
    const { title, source } = event.body
    const made = { title, source, started: position, created_at: at, created_by: by }
    return [
      put('documents', { id }, { ...made, updated_at: at, updated_by: by, revision: header.revision, frontier: '' }),
    ]
  }
  if (event.type !== 'document_updated' && event.type !== 'person_updated') return []
  const { frontier } = event.body
  return [set('documents', { id }, { updated_at: at, updated_by: by, revision: header.revision, frontier })]
}

/** Changes of `envelopes`. An answer directly follows its request. */
export function envelopes({ header, erased, event }: Projected<DocumentEvent>): Change[] {
  const { stream, revision } = header
  if (header.type === 'envelope_received') {
    const columns = {
      run_id: header.runId ?? null,
      tool_call_id: header.toolCallId ?? null,
      caller: actorText(header.actor),
      at: header.timestamp,
      erased: erased ? 1 : 0,
    }
    const body = event?.type === 'envelope_received' ? event.body : null
    const said = {
      document_id: body?.documentId ?? null,
      client_request_id: body?.request?.client_request_id ?? null,
      retry_of: body?.retryOf?.first ?? null,
      retry: body?.retryOf?.retry ?? 0,
      hash: body?.hash ?? null,
      size: body?.size ?? null,
    }
    return [put('envelopes', { stream, revision }, { ...columns, ...said })]
  }
  const key = { stream, revision: revision - 1 }
  if (event?.type === 'envelope_refused') {
    const { status, body } = event.body.answer
    const reason = typeof body.message === 'string' ? cut(body.message, 500) : null
    const conflicts = Array.isArray(body.failed_preconditions) ? body.failed_preconditions.length : 0
    const verdict = status === 409 ? 'conflict' : 'refused'
    return [set('envelopes', key, { verdict, status, code: String(body.code), reason, conflicts })]
  }
  if (event?.type !== 'document_updated' || event.body.envelope === null) return []
  return [set('envelopes', key, { verdict: 'applied', status: 200, frontier: event.body.frontier })]
}

/** Changes of `document_comments` and `document_replies`. */
export function comments({ header, event }: Projected<DocumentEvent>): Change[] {
  if (event === null) return []
  const document_id = idOf(header.stream)
  const { revision } = header
  const [at, author] = [header.timestamp, actorText(header.actor)]
  const written = { run_id: header.runId ?? null, tool_call_id: header.toolCallId ?? null, author, at }
  const settled = (id: string, status: string, settled_reason: string | null = null): Change[] => {
    const how = { status, settled_by: author, settled_at: at, settled_revision: revision, settled_reason }
    return [set('document_comments', { document_id, id }, how)]
  }
  switch (event.type) {
    case 'comment_added': {
      const { comment: id, anchor, text } = event.body
      const said = { kind: 'comment', span_id: anchor.span, quote: anchor.quote, text, replacement: null, reason: null }
      return [put('document_comments', { document_id, id }, { revision, ...written, ...said }, { status: 'open' })]
    }
    case 'suggestion_made': {
      const { suggestion: id, anchor, replacement, reason = null } = event.body
      const said = { kind: 'suggestion', span_id: anchor.span, quote: anchor.quote, text: null, replacement, reason }
      return [put('document_comments', { document_id, id }, { revision, ...written, ...said }, { status: 'open' })]
    }
    case 'reply_added': {
      const { thread: comment_id, text } = event.body
      return [put('document_replies', { document_id, revision }, { ...written, comment_id, text })]
    }
    case 'comment_resolved':
      return settled(event.body.comment, 'resolved')
    case 'suggestion_accepted':
      return settled(event.body.suggestion, 'accepted')
    case 'suggestion_refused':
      return settled(event.body.suggestion, 'refused', event.body.reason)
    default:
      return []
  }
}
