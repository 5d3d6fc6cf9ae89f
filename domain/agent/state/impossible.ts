import type { AgentEvent } from '../events/events.ts'

/** An event that cannot follow: the log is not of this program, or the fold has a fault. */
export class ImpossibleEvent extends Error {
  override readonly name = 'ImpossibleEvent'
  constructor(event: AgentEvent, why: string) {
    super(`${event.type} at revision ${event.revision} of ${event.agentId} cannot follow: ${why}`)
  }
}
