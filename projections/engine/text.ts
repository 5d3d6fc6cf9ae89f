import type { Actor } from '../../domain/log/envelope.ts'

/** The first `length` UTF-16 units of a text. Never splits a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

/** The actor of an event as text: `user:<id>`, `approver:<id>`, `driver:<id>` …. */
export const actorText = (actor: Actor): string => `${actor.kind}:${actor.id}`

/** Milliseconds since the epoch of an ISO 8601 time; null when the text is not a time. */
export function millis(time: string): number | null {
  const at = Date.parse(time)
  return Number.isNaN(at) ? null : at
}

/** For example `1 event`, `2 events`. */
export const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
