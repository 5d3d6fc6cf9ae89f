import type { SeenFile } from '../../calls/question.ts'
import type { Effect } from '../definition/tools.ts'
import type { ArgumentsRef, Failure } from '../events/events.ts'
import type { Place } from '../events/reuse.ts'
import type { Amounts } from '../events/tree.ts'

// One requested tool call, as the state of its turn holds it.

/** Where one requested tool call stands. */
export type CallStage =
  | { readonly at: 'planned' }
  | { readonly at: 'approval'; readonly expiresAt: number }
  | { readonly at: 'approved' }
  | { readonly at: 'rejected'; readonly reason: string }
  /** The intent is in the log. In doubt where `epoch` is not the current driver's. */
  | {
      readonly at: 'running'
      readonly epoch: number
      readonly notBefore: number
      /** An earlier attempt may have happened: a reconcilable call asks its probe first. */
      readonly probe: boolean
      /** The parent's answer to this call's request for budget. */
      readonly topUp?: Amounts
    }
  /** The child is at work. */
  | { readonly at: 'child'; readonly childId: string }
  /** It waits for the parent's answer to the request for budget at this revision. */
  | { readonly at: 'budget'; readonly request: number }
  /** It waits until then, ms, for the answer to the request at this revision. */
  | { readonly at: 'reply'; readonly request: number; readonly until: number }
  /** It is unknown whether it happened: a person decides. */
  | { readonly at: 'doubt' }
  | { readonly at: 'resolved'; readonly decision: 'happened' | 'run' | 'abandon' }
  | {
      readonly at: 'ended'
      readonly success: boolean
      readonly code: string | null
      readonly ran: boolean
      readonly bodyHash: string
    }

export interface Call {
  readonly id: string
  readonly index: number
  /** Where its arguments stand. */
  readonly argumentsRef: ArgumentsRef
  readonly toolName: string
  /** The name that the model wrote, where there is no such tool; no part of the digest, because it may be erased. */
  readonly askedName?: string
  readonly argumentsHash: string
  readonly effect: Effect
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly refused: Failure | null
  /** Where the record has its outcome. */
  readonly recorded?: Place
  /** It was begun to take that outcome, and is not performed. */
  readonly reused?: true
  /** The permission that lifts the policy's refusal of it. */
  readonly permission?: string
  /** The content of the files on which its approval rests. */
  readonly approvedFiles?: readonly SeenFile[]
  /** `tool_call_start` is in the log. */
  readonly started: boolean
  readonly attempt: number
  /** Attempts that a dead driver left behind, or whose tool had changed; they do not count as retries. */
  readonly lost: number
  readonly startedAt: number
  /** Revision of the last event of this call, from which the next one follows. */
  readonly since: number
  /** Signatures of this call's failed attempts (5.10.2). */
  readonly signatures: readonly string[]
  readonly stage: CallStage
}
