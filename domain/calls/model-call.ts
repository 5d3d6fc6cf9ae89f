import type { JsonObject } from '../log/json.ts'
import type { Block, Message, Usage } from './content.ts'

/** The bounds of one answer at which it may be cut off. */
export const CUTS = ['bytes', 'calls', 'blocks', 'depth'] as const
export type Cut = (typeof CUTS)[number]

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

/** The provider's answer, before redaction. `content` keeps its blocks verbatim, in order. */
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
