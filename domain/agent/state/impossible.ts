import type { AgentEvent } from '../events/events.ts'

/** Thrown for an event that cannot follow: another program wrote the log, or the fold has a bug. */
export class ImpossibleEvent extends Error {
  override readonly name = 'ImpossibleEvent'
  constructor(event: AgentEvent, why: string) {
    super(`${event.type} at revision ${event.revision} of ${event.agentId} cannot follow: ${why}`)
  }
}
