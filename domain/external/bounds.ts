import { byteLength, headOf } from '../calls/truncate.ts'
import type { Json } from '../log/json.ts'
import { wellFormed } from '../log/well-formed.ts'
import type { AgentEventBody } from './agent-event.ts'

/** Bounds of an event, in UTF-8 bytes. `data` is measured as JSON. */
export const BOUNDS = { channel: 128, text: 65_536, message: 4_096, data: 65_536, finalText: 65_536 } as const

const TRUNCATED = '…(truncated)'
const DROPPED = { dropped: { reason: 'oversize' } } as const

/**
 * Splits or cuts an event to its bounds. Drops a channel that is too long, splits text in order and between characters,
 * cuts a message, and replaces data. All text becomes well-formed.
 */
export function boundEvent(event: AgentEventBody): AgentEventBody[] {
  const { kind, channel, text, continues, message, data } = wellFormed(event)
  const common = { kind, ...(channel !== undefined && fits(channel, BOUNDS.channel) && { channel }) }
  const rest = {
    ...(message !== undefined && { message: boundMessage(message) }),
    ...(data !== undefined && { data: boundData(data) }),
  }
  if (text === undefined) return [{ ...common, ...rest }]
  const [first, ...more] = splitText(text)
  // The first part has the members that belong to the whole event.
  const begin = { ...common, text: first!, ...(continues !== undefined && { continues }), ...rest }
  return [begin, ...more.map((part) => ({ ...common, text: part, continues: true }))]
}

/** Data within its bound, or a marker that data was dropped. */
export const boundData = (data: Json): Json => (fits(JSON.stringify(data), BOUNDS.data) ? data : DROPPED)

/** Cuts the text of an answer to its bound. */
export const boundFinalText = (text: string): string => headOf(wellFormed(text), BOUNDS.finalText)

/** Cuts a message to its bound and marks the cut. */
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

/** A UTF-16 unit takes at most 3 bytes, so short texts need no count. */
const fits = (text: string, bytes: number): boolean => text.length * 3 <= bytes || byteLength(text) <= bytes
