import { bodies } from '../../domain/agent/events/events.ts'
import { type Cursor, parseCursor } from '../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { LOG_CREATED } from '../../domain/log/identity.ts'
import type { EventLog } from '../../domain/ports.ts'

/** Every type that a log can hold. */
export const EVENT_TYPES: readonly string[] = [...Object.keys(bodies), LOG_CREATED]

/** Which events a consumer wants. */
export interface EventFilter {
  readonly run?: string
  readonly agent?: string
  readonly types?: ReadonlySet<string>
}

export function wanted(event: RecordedEvent, filter: EventFilter): boolean {
  const h = event.header
  return (
    (filter.run === undefined || h.runId === filter.run) &&
    (filter.agent === undefined || h.agentId === filter.agent) &&
    (filter.types === undefined || filter.types.has(h.type))
  )
}

/**
 * Reads a cursor's text and makes sure that this log has it, before a stream is begun: afterwards a refusal could no
 * longer be told. Rejects with `CURSOR_INVALID` or `CURSOR_MISMATCH`.
 */
export async function checkedCursor(log: EventLog, text: string | undefined): Promise<Cursor | null> {
  if (text === undefined || text === '') return null
  const cursor = parseCursor(text)
  for await (const _ of log.readAll(cursor, { limit: 1, bodies: false })) break
  return cursor
}
