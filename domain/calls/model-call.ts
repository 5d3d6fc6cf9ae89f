import type { JsonObject } from '../log/json.ts'
import type { Block, Message, Usage } from './content.ts'

/** The limits of one answer. An answer that exceeds a limit is cut off. */
export const CUTS = ['bytes', 'calls', 'blocks', 'depth'] as const
/** The limit at which an answer was cut off. */
export type Cut = (typeof CUTS)[number]

/** One complete model call. The adapter converts it to its provider's wire format and adds nothing. */
export interface ModelRequest {
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: JsonObject }[]
  /** `any`: a call is required; `{name}`: a call of this tool is required; `auto`: the model may answer in text. */
  readonly toolChoice: 'any' | 'auto' | { readonly name: string }
  readonly parallelCalls: boolean
  readonly maxOutputTokens: number
}

/** Why an answer ended, in Anthropic's words. */
export type StopReason = 'tool_use' | 'end_turn' | 'max_tokens' | 'pause_turn' | 'refusal'

/** The provider's answer, before redaction. `content` keeps its blocks verbatim, in order. */
export interface ModelOutcome {
  readonly content: readonly Block[]
  readonly stopReason: StopReason
  readonly usage: Usage
  /** The model that served the call, according to the provider. */
  readonly servedBy: string
  readonly requestId?: string
  /** The limit at which the answer was cut off; `content` is the part before it. */
  readonly cut?: Cut
}

/** A failed attempt of a model call. Adapters throw only this error or the abort reason. */
export interface ModelFailure extends Error {
  readonly name: 'ModelError'
  /** RATE_LIMITED, OVERLOADED, NETWORK, TIMEOUT, AUTHENTICATION, NOT_FOUND, INVALID_REQUEST or similar. */
  readonly code: string
  readonly transient: boolean
  readonly retryAfterMs?: number
}
