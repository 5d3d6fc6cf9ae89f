import type { EventView } from '../../operations/events/schemas.ts'
import { plain, wordsFor } from './event-words.ts'
import { oneLine, truncateToWidth } from './text.ts'

const WIDTH = 140

/** Replaces the body of an event whose stored body does not match its hash. */
export const ALTERED = '(altered: the stored body is not the one that was sealed)'

export type EventContent = Pick<EventView, 'type' | 'payload' | 'actor' | 'altered'>

/** The main content of an event on one line, with the name of the person who caused it. An erased body says so. */
export function substance({ type, payload, actor: { kind, id }, altered }: EventContent): string {
  if (altered) return ALTERED
  const who = kind === 'user' || kind === 'approver' ? `by ${plain(id)}` : ''
  const said = payload === null ? '(erased)' : lineOf(type, payload)
  return truncateToWidth([who, said].filter(Boolean).join(': '), WIDTH)
}

function lineOf(type: string, payload: NonNullable<EventView['payload']>): string {
  try {
    return wordsFor(type)?.line(payload) ?? plain(payload)
  } catch {
    // Another program, or a newer version of this one, wrote the body in another shape.
    return plain(payload)
  }
}

/**
 * An event on one line: place, time, turn, type and main content. `run`: name the run, for a list over several runs.
 */
export function eventRow(event: EventView, run: boolean): string {
  const agent = event.stream.replace(/^(?:agent|external)-/, '')
  const place = run || agent !== event.runId ? `${agent}@${event.revision}` : `@${event.revision}`
  const turn = event.turn === 0 ? '' : `turn ${event.turn}`
  const columns = [oneLine(place).padEnd(5), event.timestamp.slice(11, 19), turn.padEnd(8), event.type.padEnd(18)]
  return `${columns.join('  ')}  ${substance(event)}`.trimEnd()
}

/**
 * Returns the day of an event if it differs from the previous event's day, for the first event from `today`; otherwise
 * null. Days are UTC.
 */
export function days(today = new Date().toISOString()): (event: Pick<EventView, 'timestamp'>) => string | null {
  let last = today.slice(0, 10)
  return ({ timestamp }) => {
    const day = timestamp.slice(0, 10)
    if (day === last) return null
    last = day
    return day
  }
}
