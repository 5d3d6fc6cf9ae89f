import { z } from 'zod'
import type { Failure, ResolvedPaths } from '../../calls/events/event-parts.ts'
import type { ModelOutcome } from '../../calls/model-call.ts'
import { SeenFile } from '../../calls/question-hash.ts'
import type { ToolOutcome, ToolSucceeded } from '../../calls/tools/tool-outcome.ts'
import type { Delivery, SettleDelivery } from '../../courier/delivery-commands.ts'
import { Milliseconds } from '../../log/time-span.ts'
import { ErasureCode } from '../../stream/erasure.ts'
import type { LoseChild } from '../../tree/family.ts'
import { MessageType } from '../../tree/message-events.ts'
import { AgentSpec } from '../../tree/spec.ts'
import type { Findings } from '../control/control-tool.ts'
import type { BodyOf } from '../events/events.ts'
import { NAME_LENGTH } from '../state/message-limits.ts'
import type { AgentState } from '../state/state.ts'
import { TurnRange } from '../window/segment.ts'
import type { AnswerOfRecord, CallOfRecord, FailureOfRecord, LeaveRecord } from './reuse-commands.ts'

/** The longest reason of an erasure, in characters. Events of erasures stay small. */
export const MAX_ERASURE_REASON = 2_000
export const ERASE_WHICH = 'name a revision, a range from revision to a later one, or all, and nothing else'
/** Whether the request names the bodies in exactly one of the allowed ways. */
export function namesBodiesOnce(request: {
  revision?: number | undefined
  to?: number | undefined
  all?: true | undefined
}): boolean {
  const { revision, to, all } = request
  return all
    ? revision === undefined && to === undefined
    : revision !== undefined && (to === undefined || to >= revision)
}

// Requests of people. Each is a zod schema, because it arrives from outside.

export const StartAgent = z.strictObject({
  kind: z.literal('start'),
  spec: AgentSpec,
  task: z.string().min(1).nullable(),
  /** Drive the run, also by a driver that starts later. */
  drive: z.literal(true).optional(),
  approve: z.array(z.string().min(1)).min(1).optional(),
})
const Said = z.string().trim().min(1)
/** `toolCallId`: the call of `ask_user` that the text answers; the answer is refused where the agent waits for another one. */
export const Input = z.strictObject({ kind: z.literal('input'), text: Said, toolCallId: z.string().optional() })
const Topic = z.string().trim().min(1).max(NAME_LENGTH)
/** A person's message to the agent. `correlationId`: only for a response; the id of the answered request. */
export const SendMessage = z
  .strictObject({
    kind: z.literal('send_message'),
    type: MessageType.default('event'),
    topic: Topic.optional(),
    payload: z.json(),
    correlationId: z.string().min(1).optional(),
  })
  .refine(({ type, correlationId }) => (type === 'response') === (correlationId !== undefined), {
    path: ['correlationId'],
    error: 'a response, and nothing else, names the request that it answers',
  })
export type SendMessage = z.output<typeof SendMessage>
/** A person's message to all agents of the run that subscribe to the topic, sent to the root. */
export const SayOnTopic = z.strictObject({ kind: z.literal('publish'), topic: Topic, payload: z.json() })
export type SayOnTopic = z.output<typeof SayOnTopic>
export const Pause = z.strictObject({ kind: z.literal('pause'), reason: z.string().optional() })
export const Resume = z.strictObject({ kind: z.literal('resume') })
/** Continues to the next `turn_end`, then pauses again. */
const Step = z.strictObject({ kind: z.literal('step') })
export const Cancel = z.strictObject({
  kind: z.literal('cancel'),
  reason: z.string().optional(),
  deadlineMs: Milliseconds.default(10_000),
})
/** `lapsed`: people whose earlier approvals of the call do not count any more. `otherIds`: of the person who decides. */
const Ids = z.array(z.string().min(1)).optional()
/**
 * `questionHash`: the hash of the question as shown to the person; an answer to another question is refused. `files`:
 * the current content of the files that the question depends on.
 */
export const DecideApproval = z.strictObject({
  kind: z.literal('decide_approval'),
  toolCallId: z.string().min(1),
  decision: z.enum(['approved', 'rejected']),
  questionHash: z.string().optional(),
  files: z.array(SeenFile).optional(),
  lapsed: Ids,
  otherIds: Ids,
  reason: z.string().optional(),
})
export const RevokePermission = z.strictObject({
  kind: z.literal('revoke_permission'),
  toolCallId: z.string().min(1),
  reason: z.string().optional(),
})
export type RevokePermission = z.output<typeof RevokePermission>
/** A person's decision on a call whose outcome is unknown. `questionHash`: as for an approval. */
export const ResolveDoubt = z.strictObject({
  kind: z.literal('resolve_doubt'),
  toolCallId: z.string().min(1),
  decision: z.enum(['happened', 'run', 'abandon']),
  questionHash: z.string().optional(),
  result: z.json().optional(),
  lapsed: Ids,
  otherIds: Ids,
  reason: z.string().optional(),
})
/** Allows irreversible calls again after an accepted loss whose calls are not all known. */
export const ReleaseLoss = z.strictObject({ kind: z.literal('release_loss'), reason: z.string().optional() })
/** Shows hidden turns in the next request. `turns` absent: all of them. */
export const ExpandContext = z
  .strictObject({ kind: z.literal('expand_context'), turns: TurnRange.optional() })
  .refine(({ turns }) => turns === undefined || turns.from <= turns.to, 'the last turn is before the first one')
export const StandingApproval = z.strictObject({
  kind: z.literal('standing_approval'),
  tools: z.array(z.string().min(1)).min(1),
  reason: z.string().optional(),
})
/**
 * Empties the bodies of a finished run permanently: at `revision`, from `revision` to `to`, or `all` that contain text.
 */
export const Erase = z
  .strictObject({
    kind: z.literal('erase'),
    revision: z.int().nonnegative().optional(),
    to: z.int().nonnegative().optional(),
    all: z.literal(true).optional(),
    code: ErasureCode.optional(),
    reason: z.string().trim().min(1).max(MAX_ERASURE_REASON),
  })
  .refine(namesBodiesOnce, ERASE_WHICH)
export type Erase = z.infer<typeof Erase>

export const UserCommand = z.discriminatedUnion('kind', [
  StartAgent,
  Input,
  SendMessage,
  SayOnTopic,
  Pause,
  Resume,
  Step,
  Cancel,
  DecideApproval,
  RevokePermission,
  ResolveDoubt,
  ReleaseLoss,
  StandingApproval,
  ExpandContext,
  Erase,
])
/** A person's command to a run. `kind` names it: input, an answer to an approval, pause, cancel and others. */
export type UserCommand = z.infer<typeof UserCommand>

// Outcomes of effects, already redacted by the driver. An outcome is never refused; a repeated outcome changes nothing.

export type OutcomeCommand =
  | { readonly kind: 'claim'; readonly driverId: string; readonly build: string }
  /** Takes every step that state and time allow (wake-ups, deadlines, first drive), without a new outcome. */
  | { readonly kind: 'proceed' }
  | {
      readonly kind: 'model_answered'
      readonly turn: number
      readonly attempt: number
      readonly outcome: ModelOutcome
      readonly durationMs: number
      /** Per call, in order; absent for calls whose arguments are not an object. */
      readonly paths: readonly ResolvedPaths[]
      /** The answer came from the request cache and its usage is 0; `cached` is the usage of the original answer. */
      readonly cached?: ModelOutcome['usage']
      /** Input tokens by the runtime's own estimate; absent where the reported usage is plausible. */
      readonly inputEstimate?: number
      /** The answer was copied from the record; its usage is 0. */
      readonly reused?: AnswerOfRecord
    }
  /** A rate limit delayed the attempt, which was not made. */
  | { readonly kind: 'model_held'; readonly turn: number; readonly attempt: number; readonly delayMs: number }
  | {
      readonly kind: 'model_failed'
      readonly turn: number
      readonly attempt: number
      readonly error: { code: string; message: string; transient: boolean; retryAfterMs?: number }
      /** The failure was copied from the record, together with its consequence. */
      readonly reused?: FailureOfRecord
    }
  /** `control`, only for a control tool: its parsed input, and the findings of the runtime for its decision. */
  | (ToolSucceeded & { readonly control?: { readonly input: unknown; readonly findings: Findings } })
  | Exclude<ToolOutcome, ToolSucceeded>
  | CallOfRecord
  | LeaveRecord
  /** The files after the calls up to a step. `step`: of the effect when it started. */
  | { readonly kind: 'versioned'; readonly step: number; readonly version: Version }
  | {
      readonly kind: 'drift_found'
      readonly expected: string
      readonly found: string
      readonly changed: readonly string[]
    }

/** A person restores files of a version. Recorded before the first file changes. */
export type RequestRestore = { readonly kind: 'restore' } & BodyOf<'restore_requested'>
/** The end of a restore, recorded once. */
export type EndRestore = { readonly kind: 'restore_ended' } & BodyOf<'restore_ended'>

export type PersonCommand = UserCommand | RequestRestore | EndRestore

/** A shadow tree, or why there is none. */
export type Version = { readonly tree: string } | { readonly unversioned: Failure }

/** Erasure is not a decision on the state: it works on stored bodies (domain/stream/runtime/erasure/erase.ts). */
export type AgentCommand =
  | Exclude<UserCommand, { kind: 'erase' | 'start' }>
  | Start
  | ForkAgent
  | AcceptLoss
  | OutcomeCommand
  | Delivery
  | SettleDelivery
  | LoseChild
  | RequestRestore
  | EndRestore

/** Starts an agent: the root of a new run, or with `birth` a child in its parent's run. */
type Start = z.infer<typeof StartAgent> & { readonly birth?: Birth }

interface Birth {
  readonly runId: string
  /** 1 for a child of the root. */
  readonly depth: number
  readonly parent: { readonly agentId: string; readonly toolCallId: string }
}

/**
 * Starts an agent with the history of another. `source`: the state of the other agent at the point that `link` names.
 */
export interface ForkAgent {
  readonly kind: 'fork'
  readonly source: AgentState
  readonly link: BodyOf<'forked'>
}

export interface AcceptLoss {
  readonly kind: 'accept_loss'
  readonly loss: BodyOf<'loss_accepted'>
}
