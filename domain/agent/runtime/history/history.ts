import { agentStream } from '../../../log/ids.ts'
import * as stream from '../../../stream/runtime/history.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import { agent } from '../../decide/aggregate.ts'
import type { AgentEvent } from '../../events/events.ts'

/**
 * An agent's whole history in order, in pages. A fork's history starts with the prefix of its source. `from`, `to`:
 * revisions of the agent's own stream.
 */
export const history = (
  stores: Stores,
  agentId: string,
  options: stream.HistoryOptions = {},
): AsyncGenerator<readonly stream.Remembered<AgentEvent>[]> =>
  stream.history<AgentEvent>(stores, agent, agentStream(agentId), options)

/** The first event of an agent's own stream; that of a fork names its source. Null: no such stream. */
export const firstAgentEvent = (stores: Stores, name: string): Promise<AgentEvent | null> =>
  stream.firstOf<AgentEvent>(stores, agent, name)
