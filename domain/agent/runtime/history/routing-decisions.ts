import { CommandRejected } from '../../../calls/errors.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import type { ModelRoutingDecision } from '../../routing/routing.ts'
import { history } from './history.ts'

/** A recorded routing decision. `at`: ms since the epoch. */
export interface RecordedDecision {
  readonly revision: number
  readonly at: number
  readonly decision: ModelRoutingDecision
}

/**
 * The routing decisions of one turn, one before each model call, with the deciding rule, its candidates and their
 * figures (seed 000, 5.7.2). Rejects with POINT_UNKNOWN if the turn made no model call.
 */
export async function routingDecisions(stores: Stores, agentId: string, turn: number): Promise<RecordedDecision[]> {
  const found: RecordedDecision[] = []
  for await (const page of history(stores, agentId)) {
    for (const { event } of page) {
      if (event.turn > turn && found.length > 0) return found
      if (event.type !== 'model_routed' || event.turn !== turn) continue
      found.push({ revision: event.revision, at: event.at, decision: event.body })
    }
  }
  if (found.length > 0) return found
  throw new CommandRejected('POINT_UNKNOWN', `${agentId} made no model call in turn ${turn}`)
}
