import { agentStream } from '../../../log/ids.ts'
import { idOf } from '../../../log/owner.ts'
import type { ReusedRecord } from '../types.ts'
import { history } from './history.ts'
import { agentStateAt } from './replay.ts'

/**
 * How far a fork has followed the record; null: the agent copies no recorded outcomes. Rejects like
 * {@link agentStateAt}.
 */
export async function reusedRecord(
  ports: Parameters<typeof agentStateAt>[0],
  agentId: string,
): Promise<ReusedRecord | null> {
  const { reuse } = (await agentStateAt(ports, agentId, null)).state
  if (!reuse) return null
  const { stream, models, tools, left: at } = reuse
  const taken = { source: idOf(stream), models, tools }
  if (at === null) return { ...taken, left: null }
  for await (const page of history(ports, agentId, { from: at, to: at }))
    for (const { event } of page) {
      if (event.type !== 'reuse_ended' || event.revision !== at) continue
      const { turn, toolCallId = null, body } = event
      return { ...taken, left: { revision: at, turn, toolCallId, reason: body.reason, differs: body.differs } }
    }
  throw new Error(`${agentStream(agentId)}@${at} is not where its state says`)
}
