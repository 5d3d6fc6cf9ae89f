import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema/database.ts'

/** A message of a run. `recipient` null: it was published to the topic. */
export interface MessageRow {
  readonly id: string
  readonly agentId: string
  readonly revision: number
  readonly position: number
  readonly from: string
  readonly to: string | null
  readonly type: string
  readonly topic: string | null
  readonly correlationId: string | null
  readonly preview: string | null
  readonly sentAt: string
  /** How many agents have received it. */
  readonly received: number
  /** Why it was not delivered; null: it was, or is on its way. */
  readonly bounced: string | null
}

/** Messages of a run in the order in which they were recorded; at most `limit` after the position `after`. */
export async function messagesOf(
  db: Kysely<Database>,
  { runId, after, limit }: { runId: string; after?: number; limit: number },
): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`select m.id, m.agent_id as "agentId", m.revision, m.position,
      m.sender as "from", m.recipient as "to", m.type, m.topic, m.correlation_id as "correlationId", m.preview,
      m.at as "sentAt", (select b.reason from bounces b where b.agent_id = m.agent_id and b.revision = m.revision) as bounced,
      (select count(*) from message_receipts r where r.run_id = m.run_id and r.id = m.id) as received
    from messages m where m.run_id = ${runId} and m.position > ${after ?? -1}
    order by m.position limit ${limit}`.execute(db)
  return rows.map((row) => ({ ...row, received: Number(row.received) }))
}
