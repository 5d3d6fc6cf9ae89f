import type { PointFacts } from '../../../domain/agent/state/point-details.ts'
import type { Message } from '../../../domain/calls/content.ts'

/**
 * Seed 000, 5.5; 003: `pendingCreates`, the files that the step has created. `cost`: dollars, in addition to
 * nano-dollars.
 */
export interface Checkpoint extends Omit<PointFacts, 'contextVariables'> {
  readonly id: string
  readonly threadId: string
  readonly step: number
  readonly timestamp: string
  readonly state: {
    readonly messages: readonly Message[]
    readonly sopPhase: string
    readonly contextVariables: Record<string, unknown>
  }
  /** Frontiers of the documents that the agent has touched, by document id (seed 001). */
  readonly documents: Readonly<Record<string, string>>
  readonly usage: {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly cost: number
    readonly nanoDollars: number
  }
}
