import type { ModelOutcome, ModelRequest } from '../calls/model-call.ts'

export type { Cut, ModelFailure, ModelOutcome, ModelRequest, StopReason } from '../calls/model-call.ts'

/** A source of model answers. `call` performs one attempt and rejects with a ModelError; the runtime retries. */
export interface ModelProvider {
  /** e.g. `anthropic`, `openai`, `scripted`. */
  readonly id: string
  /** `onText` receives streamed text, which is never stored. */
  call(request: ModelRequest, options: { signal: AbortSignal; onText?: (text: string) => void }): Promise<ModelOutcome>
}

/**
 * The rate limit of a provider's key, shared by all runs of a deployment. It delays calls; the delays are facts in the
 * log.
 */
export interface RateLimiter {
  /** How long a call of the model must wait, in ms. 0: the call may start now and is counted. */
  admit(model: string): Promise<number>
  /** Reports that the provider refused a call of the model and allows no other for `retryAfterMs`. */
  refused(model: string, retryAfterMs: number): Promise<void>
}

/** Answers by the hash of their request, for at most five minutes. Losing an entry is safe. */
export interface RequestCache {
  /** The stored text; null: no text is stored, or it is too old. */
  get(key: string): Promise<string | null>
  put(key: string, answer: string): Promise<void>
  clear(): Promise<void>
}
