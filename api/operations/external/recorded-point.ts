import type { z } from 'zod'
import type { RecordedAt } from '../../../domain/external/runtime/recorded-at.ts'
import { inDoubt } from '../../../domain/external/state.ts'
import type { RecordedAtPoint } from './recorded-at-schema.ts'

export type RecordedPoint = z.infer<typeof RecordedAtPoint>

/** An external agent's run at a point of its record, in the form of the API. */
export function recordedPointOf({ state: s, outcome, last }: RecordedAt): RecordedPoint {
  return {
    runId: s.runId,
    agentId: s.agentId,
    ungoverned: true,
    backend: s.backend,
    revision: last.header.revision,
    hash: last.hash,
    timestamp: last.header.timestamp,
    stage: inDoubt(s) ? 'in_doubt' : s.stage.at,
    cancelled: s.cancelledAt !== null,
    prompt: s.request.prompt,
    outcome,
    sessionId: s.sessionId,
    usage: s.usage,
    events: s.events,
    openPermissions: s.permissions.last.filter(({ decision }) => decision === null).map(({ toolCallId }) => toolCallId),
    ownCalls: s.tools?.asked ?? 0,
  }
}
