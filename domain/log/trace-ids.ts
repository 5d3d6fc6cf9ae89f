import { hash } from 'node:crypto'

// Ids of OpenTelemetry, in lower-case hex. They are hashes, so every export of a run has the same ids.

/** The trace of a run. */
export const traceIdOf = (runId: string): string => hash('sha256', `keepup trace${runId}`).slice(0, 32)

/** The span that begins with an event, by the event's id. */
export const spanIdOf = (eventId: string): string => hash('sha256', `keepup span${eventId}`).slice(0, 16)

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly flags: string
}

/** The parts of a W3C `traceparent`. Null: it is none, or its ids are zeros, which W3C forbids. */
export function parseTraceParent(text: string): TraceParent | null {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? []
  const isValid = version !== undefined && version !== 'ff' && /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(spanId)
  return isValid ? { traceId, spanId, flags } : null
}

/** A W3C `traceparent` of version 00. */
export const traceParentText = ({ traceId, spanId, flags }: TraceParent): string => `00-${traceId}-${spanId}-${flags}`
