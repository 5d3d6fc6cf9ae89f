import { type Kysely, sql } from 'kysely'
import type { Database, StreamRow } from '../schema/database.ts'

// The tables as evidence of the log: the last projected event of each stream, even if the log has lost it.

/** A call whose start the tables have seen. `effect` null: the request was erased. */
export interface SeenCall {
  readonly toolCallId: string
  readonly toolName: string | null
  readonly argumentsHash: string | null
  readonly effect: string | null
}

/** The last projected event of each stream, in order of names: at most `limit` after a name. */
export function seenHeads(db: Kysely<Database>, after: string, limit: number): Promise<StreamRow[]> {
  return db.selectFrom('streams').selectAll().where('stream', '>', after).orderBy('stream').limit(limit).execute()
}

/** The last projected event of a stream; undefined: none. */
export function seenHead(db: Kysely<Database>, stream: string): Promise<StreamRow | undefined> {
  return db.selectFrom('streams').selectAll().where('stream', '=', stream).executeTakeFirst()
}

/** Calls of an agent that had begun, and had not ended at or before a revision. */
export async function callsOpenAfter(db: Kysely<Database>, agentId: string, revision: number): Promise<SeenCall[]> {
  const rows = await db
    .selectFrom('tool_calls')
    .select(['id', 'tool_name', 'arguments_hash', 'effect'])
    .where('agent_id', '=', agentId)
    .where('ran', '=', 1)
    .where(sql<boolean>`(ended_revision is null or ended_revision > ${revision})`)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    ...{ toolCallId: row.id, toolName: row.tool_name, argumentsHash: row.arguments_hash, effect: row.effect },
  }))
}

/** The cost of an agent's model calls that ended after a revision, in nano-dollars. */
export async function costAfter(db: Kysely<Database>, agentId: string, revision: number): Promise<number> {
  const row = await db
    .selectFrom('model_calls')
    .select(({ fn }) => fn.sum<number | null>('nano_dollars').as('cost'))
    .where('agent_id', '=', agentId)
    .where('ended_revision', '>', revision)
    .executeTakeFirst()
  return Number(row?.cost ?? 0)
}
