import type { StreamEvent } from './aggregate.ts'

/** Thrown for an event that cannot follow: another program wrote the log, or the fold has a bug. */
export class ImpossibleEvent extends Error {
  override readonly name = 'ImpossibleEvent'
  constructor(event: Pick<StreamEvent, 'type' | 'revision'> & { readonly agentId: string }, why: string) {
    super(`${event.type} at revision ${event.revision} of ${event.agentId} cannot follow: ${why}`)
  }
}
