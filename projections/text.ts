import type { Actor } from '../domain/log/envelope.ts'
import { agentStream } from '../domain/log/ids.ts'

/** The first `length` UTF-16 units of a text, never half a character. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

/** Who stood behind an event: `user:<id>`, `approver:<id>`, `driver:<id>` … (CONTRACTS 6). */
export const actorText = (actor: Actor): string => `${actor.kind}:${actor.id}`

/** Milliseconds since the epoch of an ISO 8601 time; null where it is none. */
export function millis(time: string): number | null {
  const at = Date.parse(time)
  return Number.isNaN(at) ? null : at
}

/** The agent that a stream belongs to, or null: other streams make no rows here. */
export function agentOfStream(stream: string): string | null {
  return stream.startsWith('agent-') ? stream.slice('agent-'.length) : null
}

/** Under which id a stream is parked: its agent's id, or the name of a stream of another kind. */
export const parkedIdOf = (stream: string): string => agentOfStream(stream) ?? stream

/** The stream that is parked under an id. */
export const streamOfParked = (id: string): string => (OTHER_KINDS.test(id) ? id : agentStream(id))
const OTHER_KINDS = /^(log-meta$|document-|external-|key-)/

/** `1 event`, `2 events`. */
export const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
