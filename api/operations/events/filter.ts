import { AGGREGATES } from '../../../domain/kinds.ts'
import { type Cursor, parseCursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { LOG_CREATED } from '../../../domain/log/identity.ts'
import { agentOf, kindOf } from '../../../domain/log/owner.ts'
import type { EventLog } from '../../../domain/ports/index.ts'

/** All event types of logs. */
export const eventTypes = (): string[] => [
  ...new Set([...AGGREGATES.values()].flatMap(({ versions }) => Object.keys(versions))),
  LOG_CREATED,
]

/** A filter for events. `agent`: an agent id, or a person as `user:<id>`. */
export interface EventFilter {
  readonly run?: string
  readonly agent?: string
  readonly types?: ReadonlySet<string>
  readonly turn?: number
  readonly runs?: ReadonlySet<string>
  readonly kinds?: ReadonlySet<string>
  readonly streams?: ReadonlySet<string>
}

/** The agent and turn of an event in views. A person's event belongs to the person, with turn 0. */
export function shownBy(header: RecordedEvent['header']): { agentId: string; turn: number } {
  const { actor, turn } = header
  const person = actor.kind === 'user' || actor.kind === 'approver'
  return person ? { agentId: `user:${actor.id}`, turn: 0 } : { agentId: agentOf(header), turn }
}

export function wanted({ header: h }: Pick<RecordedEvent, 'header'>, filter: EventFilter): boolean {
  const shown = shownBy(h)
  return (
    (filter.run === undefined || h.runId === filter.run) &&
    (filter.agent === undefined || h.agentId === filter.agent || shown.agentId === filter.agent) &&
    (filter.types === undefined || filter.types.has(h.type)) &&
    (filter.turn === undefined || shown.turn === filter.turn) &&
    (filter.runs === undefined || (h.runId !== undefined && filter.runs.has(h.runId))) &&
    (filter.kinds === undefined || filter.kinds.has(kindOf(h.stream))) &&
    (filter.streams === undefined || filter.streams.has(h.stream))
  )
}

/**
 * Parses a cursor and checks that this log contains it. Call this before a stream begins, because a stream cannot
 * report an error afterwards. Rejects with `CURSOR_INVALID` or `CURSOR_MISMATCH`.
 */
export async function checkedCursor(log: EventLog, text: string | undefined): Promise<Cursor | null> {
  if (text === undefined || text === '') return null
  const cursor = parseCursor(text)
  for await (const _ of log.readAll(cursor, { limit: 1, bodies: false })) break
  return cursor
}
