import type { Cut } from '../agent/events/answer-bounds.ts'
import type { Block, Message, Usage } from '../agent/events/content.ts'
import type { JsonObject } from '../log/json.ts'

/** One model call, complete: the adapter turns it into its provider's wire form and adds nothing of its own. */
export interface ModelRequest {
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: JsonObject }[]
  /** `any`: a call is required; `{name}`: this one; `auto`: the model may answer in text. */
  readonly toolChoice: 'any' | 'auto' | { readonly name: string }
  readonly parallelCalls: boolean
  readonly maxOutputTokens: number
}

export type StopReason = 'tool_use' | 'end_turn' | 'max_tokens' | 'pause_turn' | 'refusal'

/** What the provider answered, before redaction. `content` keeps its blocks verbatim, in order. */
export interface ModelOutcome {
  readonly content: readonly Block[]
  readonly stopReason: StopReason
  readonly usage: Usage
  /** The model that the provider says has served it. */
  readonly servedBy: string
  readonly requestId?: string
  /** The bound of one answer at which it was cut off; what came before it is the content. */
  readonly cut?: Cut
}

/** A failed model attempt. Adapters throw nothing else (but the abort reason). */
export interface ModelFailure extends Error {
  readonly name: 'ModelError'
  /** e.g. RATE_LIMITED, OVERLOADED, NETWORK, TIMEOUT, AUTHENTICATION, NOT_FOUND, INVALID_REQUEST, INVALID_RESPONSE. */
  readonly code: string
  readonly transient: boolean
  readonly retryAfterMs?: number
}

export interface ModelProvider {
  /** e.g. `anthropic`, `openai`, `scripted`. */
  readonly id: string
  /** `onText` receives text as it streams; it is ephemeral and never stored. */
  call(request: ModelRequest, options: { signal: AbortSignal; onText?: (text: string) => void }): Promise<ModelOutcome>
}
