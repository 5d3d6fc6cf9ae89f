import type { ModelOutcome, ModelRequest } from '../shared/model-call.ts'

export type { Cut, ModelFailure, ModelOutcome, ModelRequest, StopReason } from '../shared/model-call.ts'

export interface ModelProvider {
  /** e.g. `anthropic`, `openai`, `scripted`. */
  readonly id: string
  /** `onText` receives text as it streams; it is ephemeral and never stored. */
  call(request: ModelRequest, options: { signal: AbortSignal; onText?: (text: string) => void }): Promise<ModelOutcome>
}
