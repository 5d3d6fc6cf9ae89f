import type { ModelOutcome, ModelRequest } from '../calls/model-call.ts'

export type { Cut, ModelFailure, ModelOutcome, ModelRequest, StopReason } from '../calls/model-call.ts'

export interface ModelProvider {
  /** e.g. `anthropic`, `openai`, `scripted`. */
  readonly id: string
  /** `onText` receives text as it streams; it is ephemeral and never stored. */
  call(request: ModelRequest, options: { signal: AbortSignal; onText?: (text: string) => void }): Promise<ModelOutcome>
}

/**
 * The limit of a provider's key, shared by all runs of a deployment. It gates calls; the waits themselves are facts in the
 * log.
 */
export interface RateLimiter {
  /** How long a call of the model is to wait, ms. 0: it may be made now, and is counted. */
  admit(model: string): Promise<number>
  /** The provider has refused a call of the model, and asks for no other within so many ms. */
  refused(model: string, retryAfterMs: number): Promise<void>
}

/** Answers by the hash of their request, for five minutes at most. A miss is never wrong. */
export interface RequestCache {
  /** The stored text; null: there is none, or it is too old. */
  get(key: string): Promise<string | null>
  put(key: string, answer: string): Promise<void>
  clear(): Promise<void>
}
