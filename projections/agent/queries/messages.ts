import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import type { Row } from '../../engine/schema/tables.ts'

/** A message, and its outcome according to the tables. */
export interface MessageRow {
  readonly message: Row<'messages'>
  /** Agents that have received it, in order of their ids. */
  readonly receivedBy: readonly string[]
  /** Why the recipient's stream has refused the delivery. */
  readonly bounced: string | null
  /** Why the recipient has refused it, or will not answer it. */
  readonly refused: string | null
}

/** The messages of a run in log order: at most `limit` after the position `after`. */
export async function selectMessages(
  db: Kysely<Database>,
  { runId, after, limit }: { runId: string; after?: number | undefined; limit: number },
): Promise<MessageRow[]> {
  let query = db.selectFrom('messages').selectAll().where('run_id', '=', runId).orderBy('position').limit(limit)
  if (after !== undefined) query = query.where('position', '>', after)
  const rows = await query.execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return []
  const receipts = await db
    .selectFrom('message_receipts')
    .select(['id', 'agent_id'])
    .where('run_id', '=', runId)
    .where('id', 'in', ids)
    .orderBy('agent_id')
    .execute()
  const bounces = await db
    .selectFrom('messages as m')
    .innerJoin('bounces as b', (join) =>
      join.onRef('b.agent_id', '=', 'm.agent_id').onRef('b.revision', '=', 'm.revision'),
    )
    .select(['m.id', 'b.reason'])
    .where('m.run_id', '=', runId)
    .where('m.id', 'in', ids)
    .execute()
  const refusals = await db
    .selectFrom('messages')
    .select(['correlation_id', 'refused'])
    .where('run_id', '=', runId)
    .where('correlation_id', 'in', ids)
    .where('refused', 'is not', null)
    .execute()
  return rows.map((message) => ({
    message,
    receivedBy: receipts.filter(({ id }) => id === message.id).map(({ agent_id }) => agent_id),
    bounced: bounces.find(({ id }) => id === message.id)?.reason ?? null,
    refused: refusals.find(({ correlation_id }) => correlation_id === message.id)?.refused ?? null,
  }))
}
