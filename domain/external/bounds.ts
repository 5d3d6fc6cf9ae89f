import { byteLength, headOf } from '../calls/bounded.ts'
import type { Json } from '../log/json.ts'
import { wellFormed } from '../log/well-formed.ts'
import type { AgentEventBody } from './agent-event.ts'

/** Bounds of an event, in UTF-8 bytes. `data` is measured as JSON. */
export const BOUNDS = { channel: 128, text: 65_536, message: 4_096, data: 65_536, finalText: 65_536 } as const

const TRUNCATED = '…(truncated)'
const DROPPED = { dropped: { reason: 'oversize' } } as const

/**
 * An event within its bounds, as one event or several: a channel that is too long is dropped, text is split in order and
 * never inside a character, a message is cut, data is replaced. All text is well formed.
 */
export function boundEvent(event: AgentEventBody): AgentEventBody[] {
  const { kind, channel, text, message, data } = wellFormed(event)
  const common = { kind, ...(channel !== undefined && fits(channel, BOUNDS.channel) && { channel }) }
  const rest = {
    ...(message !== undefined && { message: boundMessage(message) }),
    ...(data !== undefined && { data: boundData(data) }),
  }
  if (text === undefined) return [{ ...common, ...rest }]
  const [first, ...more] = splitText(text)
  // Members that belong to the event as a whole stand in its first part.
  return [{ ...common, text: first!, ...rest }, ...more.map((part) => ({ ...common, text: part }))]
}

/** Data within its bound, or what says that it was dropped. */
export const boundData = (data: Json): Json => (fits(JSON.stringify(data), BOUNDS.data) ? data : DROPPED)

/** The text of an answer within its bound. */
export const boundFinalText = (text: string): string => headOf(wellFormed(text), BOUNDS.finalText)

/** A message within its bound; one that was cut says so. */
export function boundMessage(message: string): string {
  if (fits(message, BOUNDS.message)) return message
  return headOf(message, BOUNDS.message - byteLength(TRUNCATED)) + TRUNCATED
}

function splitText(text: string): string[] {
  const parts: string[] = []
  let rest = text
  while (!fits(rest, BOUNDS.text)) {
    const part = headOf(rest, BOUNDS.text)
    parts.push(part)
    rest = rest.slice(part.length)
  }
  return [...parts, rest]
}

/** A UTF-16 unit takes at most 3 bytes, so that short texts need no count. */
const fits = (text: string, bytes: number): boolean => text.length * 3 <= bytes || byteLength(text) <= bytes
