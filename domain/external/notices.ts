import { type EventNotice, shortLine } from '../stream/notice.ts'
import type { ExternalEvent, ExternalEventType } from './events.ts'
import type { Outcome } from './outcome.ts'

// Notices of other agents' runs.

/** The types that {@link externalNotice} reads. */
export const NOTICED: ReadonlySet<string> = new Set<ExternalEventType>([
  ...(['external_started', 'permission_requested', 'approval_requested', 'external_ended'] as const),
])

/** The notice of an event; null: none. A run that another run delegated has no notice of its end. */
export function externalNotice(event: ExternalEvent): EventNotice | null {
  switch (event.type) {
    case 'permission_requested':
    case 'approval_requested':
      return { type: 'approval_asked', title: `${shortLine(event.body.toolName)} waits for an approval` }
    case 'external_ended':
      return event.runId === event.agentId ? { type: 'run_ended', title: `The run ${endOf(event.body)}` } : null
    default:
      return null
  }
}

function endOf(outcome: Outcome): string {
  if (outcome.outcome === 'exited') return outcome.success ? 'is done' : 'has failed'
  if (outcome.outcome === 'failed') return `ended with ${outcome.error.code}`
  return outcome.outcome === 'cancelled' ? 'was cancelled' : 'was cut off; it is unknown how it ended'
}
