import { agentStream } from '../../../log/ids.ts'
import { idOf } from '../../../log/owner.ts'
import type { ReusedRecord } from '../types.ts'
import { history } from './history.ts'
import { stateAt } from './replay.ts'

/**
 * How far a fork has followed the record; null: the agent copies no recorded outcomes. Rejects like {@link stateAt}.
 */
export async function reusedRecord(
  ports: Parameters<typeof stateAt>[0],
  agentId: string,
): Promise<ReusedRecord | null> {
  const { reuse } = (await stateAt(ports, agentId, null)).state
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
