import { messageId } from '../../../domain/log/ids.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { Change } from '../../engine/changes/change.ts'
import { cut } from '../../engine/text.ts'
import { type AgentTableRow, put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** Changes of `messages`: one row, in the stream that recorded the message first. */
export function messages(e: ProjectedEvent): Change[] {
  if (!e.body) return []
  const losses = 'losses' in e.body ? e.body.losses : undefined
  const id = messageId(e.agentId, { revision: e.revision, losses })
  switch (e.type) {
    case 'message_sent': {
      const { to, type, topic, correlationId, payload, refused } = e.body
      return [
        row(e, {
          id,
          sender: e.agentId,
          recipient: to,
          type,
          ...about(topic, correlationId),
          ...said(refused ?? payload),
          ...(refused === undefined ? {} : { refused }),
        }),
      ]
    }
    case 'message_published':
      return [row(e, { id, sender: e.agentId, type: 'event', topic: e.body.topic, ...said(e.body.payload) })]
    case 'message_distributed':
      if (e.body.origin !== undefined) return []
      return [row(e, { id, sender: e.body.from, type: 'event', topic: e.body.topic, ...said(e.body.payload) })]
    case 'message_received': {
      const { origin, from, type, topic, correlationId, payload = null } = e.body
      // The root also receives messages to topics; the publication gives their row.
      if (origin !== undefined || e.body.id.split('+')[0] !== id) return []
      return [
        row(e, {
          id: e.body.id,
          sender: from,
          recipient: e.agentId,
          type,
          ...about(topic, correlationId),
          ...said(payload),
        }),
      ]
    }
    default:
      return []
  }
}

export function messageReceipts(e: ProjectedEvent): Change[] {
  if (e.type !== 'message_received' || !e.body) return []
  const key = { agent_id: e.agentId, revision: e.revision }
  return [put('message_receipts', key, { run_id: e.runId, id: e.body.id, at: e.time })]
}

type Columns = Partial<AgentTableRow<'messages'>>

const row = (e: ProjectedEvent, columns: Columns): Change =>
  put(
    'messages',
    { agent_id: e.agentId, revision: e.revision },
    { ...columns, run_id: e.runId, position: e.position, at: e.time },
  )

const about = (topic: string | undefined, correlationId: string | undefined): Columns => ({
  ...(topic === undefined ? {} : { topic }),
  ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
})

const said = (payload: Json): Columns => ({ preview: cut(JSON.stringify(payload), 500) })
