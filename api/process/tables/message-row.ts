import { agentStream } from '../../../domain/log/ids.ts'
import { isPerson } from '../../../domain/tree/message-events.ts'
import type { MessageRow } from '../../../projections/index.ts'
import type { MessageView } from '../../operations/messages/schemas.ts'

/** A message in the form of the API. A message to a person counts as received, because people read the log. */
export function messageRow({ message: row, receivedBy, bounced, refused }: MessageRow): MessageView {
  const read = receivedBy.length > 0 || (row.recipient !== null && isPerson(row.recipient))
  const reason = row.refused ?? bounced ?? refused
  return {
    id: row.id,
    from: row.sender,
    to: row.recipient,
    type: row.type as MessageView['type'],
    ...(row.topic === null ? {} : { topic: row.topic }),
    ...(row.correlation_id === null ? {} : { correlationId: row.correlation_id }),
    timestamp: row.at,
    preview: row.preview,
    status: read ? 'received' : bounced !== null ? 'bounced' : refused !== null ? 'refused' : 'sent',
    reason,
    receivedBy: [...receivedBy],
    stream: agentStream(row.agent_id),
    revision: row.revision,
  }
}
