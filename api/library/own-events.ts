import type { AgentEventBody } from '../../domain/external/agent-event.ts'
import { boundEvent } from '../../domain/external/bounds.ts'
import { wordsFor } from '../cli/output/event-words.ts'
import type { EventView } from '../operations/events/schemas.ts'

/**
 * Maps an event of keepup's own agent to events of the Universal Agent API, within its size limits. Empty: the event
 * has no equivalent. Deterministic.
 */
export const ownEvents = (view: EventView): AgentEventBody[] =>
  (wordsFor(view.type)?.agentEvents?.(view.payload, view) ?? []).flatMap(boundEvent)
