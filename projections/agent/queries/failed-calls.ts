import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'

/**
 * The revisions at which failed calls of an agent ended, from `from` and below `to`, in ascending order. A command that
 * ended with an exit code other than 0, or by a signal, counts as failed.
 */
export async function failedCallEnds(
  db: Kysely<Database>,
  { agentId, from, to }: { readonly agentId: string; readonly from: number; readonly to: number },
): Promise<number[]> {
  const rows = await db
    .selectFrom('tool_calls')
    .select('ended_revision')
    .where('agent_id', '=', agentId)
    .where('ended_revision', '>=', from)
    .where('ended_revision', '<', to)
    .where(({ or, eb }) => or([eb('status', '=', 'failed'), eb('exit_code', '<>', 0)]))
    .orderBy('ended_revision')
    .execute()
  return rows.flatMap(({ ended_revision }) => ended_revision ?? [])
}
