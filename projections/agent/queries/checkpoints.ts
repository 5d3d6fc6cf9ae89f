import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import { historySql } from '../../engine/schema/history-sql.ts'

// CheckpointManager (seed 000, 5.5): lists and finds checkpoints. Their state comes from a fold of the log.

/** The row of a checkpoint. `agent_id`: the source's id when a fork inherited the checkpoint. */
export interface StoredCheckpoint {
  readonly id: string
  readonly agent_id: string
  readonly step: number
  readonly run_id: string
  readonly turn: number
  readonly revision: number
  readonly position: number
  readonly timestamp: string
  readonly tool_call_id: string | null
  readonly digest: string | null
  readonly fold: number | null
}

const COLUMNS = sql.raw(
  'c.agent_id, c.run_id, c.turn, c.revision, c.position, c.timestamp, c.tool_call_id, c.digest, c.fold',
)

/** Checkpoints of one agent. The view counts the steps if a body with a step was erased. */
async function rowsOf(db: Kysely<Database>, agentId: string, where: RawBuilder<unknown>): Promise<StoredCheckpoint[]> {
  const erased = await db
    .selectFrom('checkpoint_rows')
    .select('revision')
    .where('agent_id', '=', agentId)
    .where('step', 'is', null)
    .limit(1)
    .execute()
  const source =
    erased.length === 0
      ? sql`(select * from checkpoint_rows where agent_id = ${agentId}) as c`
      : sql`(select c.agent_id, c.run_id, c.turn, c.revision, c.position, c.timestamp, c.tool_call_id, c.digest, c.fold, f.step
        from checkpoint_rows c join checkpoint_facts f on f.agent_id = c.agent_id and f.revision = c.revision
        where c.agent_id = ${agentId} and f.agent_id = ${agentId}) as c`
  const { rows } = await sql<
    Omit<StoredCheckpoint, 'id'>
  >`select ${COLUMNS}, c.step from ${source} where ${where}`.execute(db)
  return rows.map(named)
}

/** An agent's own checkpoints in order of step: at most `limit` after the log position `after`. */
export const selectCheckpoints = (
  db: Kysely<Database>,
  agentId: string,
  { after = -1, limit = 100 }: { after?: number; limit?: number } = {},
): Promise<StoredCheckpoint[]> => rowsOf(db, agentId, sql`c.position > ${after} order by c.position limit ${limit}`)

/** The checkpoint at a step, the agent's own or an inherited one; null: none. */
export async function findCheckpoint(
  db: Kysely<Database>,
  agentId: string,
  step: number,
): Promise<StoredCheckpoint | null> {
  for (const { id, upto } of await historyOf(db, agentId, Number.MAX_SAFE_INTEGER)) {
    const [row] = await rowsOf(db, id, sql`c.step = ${step} and c.revision <= ${upto}`)
    if (row) return row
  }
  return null
}

const named = (row: Omit<StoredCheckpoint, 'id'>): StoredCheckpoint => ({ id: `${row.agent_id}.s${row.step}`, ...row })

/** The parts of streams that form an agent's history at a revision: each stream up to `upto`, the agent's own first. */
export async function historyOf(
  db: Kysely<Database>,
  agentId: string,
  revision: number,
): Promise<{ id: string; upto: number }[]> {
  const { rows } = await sql<{ id: string; upto: number }>`${literal(historySql, agentId, revision)}
    select id, upto from h order by d`.execute(db)
  return rows
}

/** The cost of model calls up to a checkpoint, through forks. The figures of a late answer replace its estimate. */
export async function usageAt(db: Kysely<Database>, row: StoredCheckpoint) {
  const { rows } = await sql<{
    input: number
    output: number
    nano: number
  }>`${literal(historySql, row.agent_id, row.revision)}
    select coalesce(sum(m.input + m.cache_read + m.cache_write), 0) as input, coalesce(sum(m.output), 0) as output,
      coalesce(sum(m.nano_dollars), 0) as nano
    from h join model_calls m on m.agent_id = h.id and m.ended_revision <= h.upto`.execute(db)
  const { input, output, nano } = rows[0]!
  return { inputTokens: input, outputTokens: output, cost: nano / 1e9, nanoDollars: nano }
}

// The fragments are written for columns of an outer query; here they get literal values.
function literal(fragment: (agent: string, revision: string) => string, agentId: string, revision: number) {
  if (!Number.isSafeInteger(revision)) throw new RangeError(`revision ${revision} is no whole number`)
  // Compare with the column instead of a literal, because the column also defines the collation.
  const agent = `(select id from agents where id = '${agentId.replaceAll("'", "''")}')`
  return sql.raw(fragment(agent, String(revision)))
}
