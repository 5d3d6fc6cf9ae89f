import { z } from 'zod'
import type { Json } from '../log/json.ts'

// These names and shapes are part of the storage format: events are stored in batches (events.ts).

export const EVENT_KINDS = ['TextOutput', 'ToolCall', 'ToolResult', 'Status', 'Error', 'Unknown'] as const
export type AgentEventKind = (typeof EVENT_KINDS)[number]

/** An event of a run's agent as stored. The agent kind is not included: it is the same for the whole stream. */
export interface AgentEventBody {
  readonly kind: AgentEventKind
  readonly channel?: string
  readonly text?: string
  /**
   * Of a text: whether it continues the text before it on its channel, as the pieces of a streamed text do. False: it
   * begins a text. Absent: unknown, because the agent or an earlier keepup did not say so.
   */
  readonly continues?: boolean
  readonly message?: string
  readonly data?: Json
}

/** {@link AgentEventBody} with the agent kind, for consumers. */
export interface ExternalAgentEvent extends AgentEventBody {
  readonly agentKind: string
}

export const StoredAgentEvent = z.strictObject({
  kind: z.enum(EVENT_KINDS),
  channel: z.string().optional(),
  text: z.string().optional(),
  continues: z.boolean().optional(),
  message: z.string().optional(),
  data: z.json().optional(),
})
