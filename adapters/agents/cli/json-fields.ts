import { byteLength } from '../../../domain/calls/truncate.ts'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import { BOUNDS } from '../../../domain/external/bounds.ts'
import type { Json, JsonObject } from '../../../domain/log/json.ts'
import type { Mapped } from '../../../domain/ports/external.ts'

// Readers of JSON that other programs wrote: any member may have any type.

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const object = (value: unknown): JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : {}

export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : [])

export const NO_EVENTS: Mapped = {}

export const events = (...all: AgentEventBody[]): Mapped => ({ events: all })

/** A text that the agent reports as a whole. */
export const wholeText = (text: Json | undefined): AgentEventBody => ({
  kind: 'TextOutput',
  text: stringOf(text),
  continues: false,
})

/** A piece of a text that the agent streams. */
export const textPiece = (text: string): AgentEventBody => ({ kind: 'TextOutput', text, continues: true })

export const status = (message: string, data?: JsonObject): Mapped =>
  events({ kind: 'Status', message, ...(data !== undefined && { data }) })

export const failure = (message: string, data?: JsonObject): Mapped =>
  events({
    kind: 'Error',
    message: message === '' ? 'the agent reports an error' : message,
    ...(data !== undefined && { data }),
  })

/** The event for a line of an unknown type. It does not repeat the line. */
export const unknown = (): Mapped => events({ kind: 'Unknown', message: 'a line of an unknown type' })

export const toolCall = (id: Json | undefined, name: Json | undefined, input: Json | undefined): AgentEventBody => ({
  kind: 'ToolCall',
  message: stringOf(name),
  data: { id: stringOf(id), name: stringOf(name), input: input ?? null },
})

/** `patch`: a unified diff of the files that the call changed. It is left out if the event would be too large with it. */
export function toolResult(
  id: Json | undefined,
  success: boolean,
  output: Json | undefined,
  patch = '',
): AgentEventBody {
  const data = { id: stringOf(id), success, output: output ?? null }
  const whole = { ...data, patch }
  const fits = patch !== '' && byteLength(JSON.stringify(whole)) <= BOUNDS.data
  return { kind: 'ToolResult', data: fits ? whole : data }
}
