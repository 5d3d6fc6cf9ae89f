import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import { reached } from './still-matters.ts'

/** One reason why an agent waits: for a person, or until its models answer again (`model`). */
export interface WaitingReason {
  readonly agentId: string
  readonly for: 'input' | 'approval' | 'doubt' | 'pause' | 'model'
  /** The call that waits for an approval or a decision. */
  readonly toolCallId: string | null
}

/** For each of the given runs, the reasons why its agents wait. */
export async function waitingOf(
  db: Kysely<Database>,
  runIds: readonly string[],
): Promise<Map<string, WaitingReason[]>> {
  if (runIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('waiting')
    .selectAll()
    .where('run_id', 'in', runIds)
    .where(reached('waiting.agent_id'))
    .orderBy('agent_id')
    .orderBy('reason')
    .orderBy('tool_call_id')
    .execute()
  return new Map(
    [...Map.groupBy(rows, (row) => row.run_id)].map(([runId, all]) => [
      runId,
      all.map(({ agent_id, reason, tool_call_id }) => ({ agentId: agent_id, for: reason, toolCallId: tool_call_id })),
    ]),
  )
}
