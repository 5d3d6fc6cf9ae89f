import { take } from '../../../http/answers.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { api } from '../../client/api.ts'

/** Reads an event with its full payload. Rejects if the event does not exist yet. */
export async function wholeEvent(agentId: string, revision: number): Promise<EventView> {
  const query = { from: String(revision), limit: '1' }
  const { events } = await take(api.v1.agents[':id'].events.$get({ param: { id: agentId }, query }))
  if (events[0] === undefined) throw new Error(`there is no event ${revision}; the run has not come so far`)
  return events[0] as EventView
}
