import type { EventPlace } from '../log/body-parts.ts'
import type { Amounts } from '../tree/events.ts'
import type { ArgumentsRef, Failure, SentSecret } from './events/event-parts.ts'
import type { SeenFile } from './question-hash.ts'
import type { Effect } from './tools/tool-spec.ts'

/** The approval of one person among several. `question`: the question with its files, under the salt of hashes. */
export interface Supporter {
  readonly by: string
  readonly question: string
}

export type CallStage =
  | { readonly at: 'planned' }
  | {
      readonly at: 'approval'
      readonly expiresAt: number
      /** How many people must approve; absent: one. */
      readonly needed?: number
      /** Those who approved so far, all of the same question; absent: nobody. */
      readonly supporters?: readonly Supporter[]
    }
  | { readonly at: 'approved' }
  | { readonly at: 'rejected'; readonly reason: string }
  /** The intent is in the log. The attempt is in doubt if `epoch` is not the current driver's. */
  | {
      readonly at: 'running'
      readonly epoch: number
      readonly notBefore: number
      /** An earlier attempt may have happened: a reconcilable call runs its probe first. */
      readonly probe: boolean
      readonly topUp?: Amounts
    }
  | { readonly at: 'child'; readonly childId: string }
  /** Waits for the parent's answer to the budget request at this revision. */
  | { readonly at: 'budget'; readonly request: number }
  /** Waits until `until`, ms, for the answer to the request at this revision. */
  | { readonly at: 'reply'; readonly request: number; readonly until: number }
  /** The outcome is unknown; a person decides. */
  | {
      readonly at: 'doubt'
      /** Those who approved so far that the call runs again, if several people must; absent: nobody. */
      readonly supporters?: readonly Supporter[]
      /** The revision at which the doubt began; absent: the last event of the call began it. */
      readonly asked?: number
    }
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
  readonly argumentsRef: ArgumentsRef
  readonly toolName: string
  /**
   * The name that the model wrote; present only for an unknown tool. The digest excludes it, because it may be erased.
   */
  readonly askedName?: string
  readonly argumentsHash: string
  readonly effect: Effect
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly refused: Failure | null
  readonly recorded?: EventPlace
  /** The call was started to copy the recorded outcome and does not run. */
  readonly reused?: true
  readonly permission?: string
  /** The secrets that the tool receives; a question about the call shows them. */
  readonly secrets?: readonly SentSecret[]
  /** The content of the files that its approval depends on. */
  readonly approvedFiles?: readonly SeenFile[]
  /** `tool_call_start` is in the log. */
  readonly started: boolean
  readonly attempt: number
  /**
   * Attempts that do not count as retries: driver died, tool or approved file changed, or a person ran the call again.
   */
  readonly lost: number
  readonly startedAt: number
  /** Revision of the last event of this call, which causes the next one. */
  readonly since: number
  /** Signatures of this call's failed attempts (5.10.2). */
  readonly signatures: readonly string[]
  readonly stage: CallStage
}

/** Identifies a call among failed ones. */
export const failureKey = (toolName: string, argumentsHash: string): string => `${toolName}:${argumentsHash}`

/** The part of a call that digests cover. Text can be erased, so digests exclude it. */
export const callWithoutText = ({
  refused,
  reads: _,
  writes: __,
  signatures: ___,
  askedName: ____,
  approvedFiles: _____,
  secrets: ______,
  stage,
  ...call
}: Call) => ({
  ...call,
  refused: refused && { code: refused.code, rule: refused.rule ?? null },
  stage: stage.at === 'rejected' ? { at: stage.at } : stage,
})
