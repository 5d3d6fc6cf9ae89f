import { z } from 'zod'
import type { ModelOutcome } from '../../calls/model-call.ts'
import { SeenFile } from '../../calls/question.ts'
import type { ToolResult } from '../../calls/tool-call.ts'
import { Milliseconds } from '../../log/time-span.ts'
import type { Findings } from '../control/control-tool.ts'
import { AgentSpec } from '../definition/spec.ts'
import type { ToolMeaning } from '../definition/tools.ts'
import type { ResolvedPaths } from '../events/event-parts.ts'
import type { Attachment, BodyOf, Failure } from '../events/events.ts'
import { MessageType } from '../events/messages.ts'
import type { Place } from '../events/reuse.ts'
import type { Delivery } from '../rules/obligations.ts'
import { NAME_LENGTH } from '../state/bus-rules.ts'
import type { AgentState } from '../state/state.ts'
import { TurnRange } from '../window/segment.ts'
import type { AnswerOfRecord, CallOfRecord, FailureOfRecord, LeaveRecord } from './record-commands.ts'

/** Facts of erasures stay small. */
export const MAX_ERASURE_REASON = 2_000
export const ERASE_WHICH = 'name a revision, a range from revision to a later one, or all, and nothing else'
/** Does the request name the bodies in exactly one of the allowed ways? */
export function erasable(request: {
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
  /** It is to be driven, also by a driver that comes later. */
  drive: z.literal(true).optional(),
  /** Standing approval from the first moment on. */
  approve: z.array(z.string().min(1)).min(1).optional(),
})
const Said = z.string().trim().min(1)
/** `toolCallId`: the call of `ask_user` that the text answers; the answer is refused where the agent waits for another one. */
export const Input = z.strictObject({ kind: z.literal('input'), text: Said, toolCallId: z.string().optional() })
const Topic = z.string().trim().min(1).max(NAME_LENGTH)
/** A person's message to the agent. `correlationId`: of a response, the id of the request that it answers. */
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
/** A person's message to all agents of the run that hear the topic; to its root. */
export const SayOnTopic = z.strictObject({ kind: z.literal('publish'), topic: Topic, payload: z.json() })
export type SayOnTopic = z.output<typeof SayOnTopic>
export const Pause = z.strictObject({ kind: z.literal('pause'), reason: z.string().optional() })
export const Resume = z.strictObject({ kind: z.literal('resume') })
/** Goes on to the next `turn_end`, then pauses again. */
export const Step = z.strictObject({ kind: z.literal('step') })
export const Cancel = z.strictObject({
  kind: z.literal('cancel'),
  reason: z.string().optional(),
  deadlineMs: Milliseconds.default(10_000),
})
/**
 * `questionHash`: the hash of the question as the person was shown it; another question is refused. `files`: the content now
 * of the files that it rests on.
 */
export const DecideApproval = z.strictObject({
  kind: z.literal('decide_approval'),
  toolCallId: z.string().min(1),
  decision: z.enum(['approved', 'rejected']),
  questionHash: z.string().optional(),
  files: z.array(SeenFile).optional(),
  reason: z.string().optional(),
})
/** Takes a permission back that the call had asked for. */
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
  reason: z.string().optional(),
})
/** Lets irreversible calls run again after an accepted loss whose calls are not all known. */
export const ReleaseLoss = z.strictObject({ kind: z.literal('release_loss'), reason: z.string().optional() })
/** Shows hidden turns again in the next request; absent: all of them. */
export const ExpandContext = z
  .strictObject({ kind: z.literal('expand_context'), turns: TurnRange.optional() })
  .refine(({ turns }) => turns === undefined || turns.from <= turns.to, 'the last turn is before the first one')
export const StandingApproval = z.strictObject({
  kind: z.literal('standing_approval'),
  tools: z.array(z.string().min(1)).min(1),
  reason: z.string().optional(),
})
/**
 * Empties bodies for ever: of one event, of those from `revision` to `to`, or of `all` that hold text.
 * Finished runs only.
 */
export const Erase = z
  .strictObject({
    kind: z.literal('erase'),
    revision: z.int().nonnegative().optional(),
    to: z.int().nonnegative().optional(),
    all: z.literal(true).optional(),
    reason: z.string().trim().min(1).max(MAX_ERASURE_REASON),
  })
  .refine(erasable, ERASE_WHICH)
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
export type UserCommand = z.infer<typeof UserCommand>

// Outcomes of effects, from the driver and already redacted. An outcome is never refused; a recorded one changes nothing.

export type OutcomeCommand =
  | { readonly kind: 'claim'; readonly driverId: string; readonly build: string }
  /** No news from outside: take every step that state and time allow (wake-ups, deadlines, first drive). */
  | { readonly kind: 'proceed' }
  | {
      readonly kind: 'model_answered'
      readonly turn: number
      readonly attempt: number
      readonly outcome: ModelOutcome
      readonly durationMs: number
      /** Per call, in order; absent for calls whose arguments are no object. */
      readonly paths: readonly ResolvedPaths[]
      /** The answer came from the request cache, and its usage is 0: what it took when the provider gave it. */
      readonly cached?: ModelOutcome['usage']
      /** It was taken from the record, and its usage is 0. */
      readonly reused?: AnswerOfRecord
    }
  /** The attempt was not made: a rate limit holds it back for so long. */
  | { readonly kind: 'model_held'; readonly turn: number; readonly attempt: number; readonly delayMs: number }
  | {
      readonly kind: 'model_failed'
      readonly turn: number
      readonly attempt: number
      readonly error: { code: string; message: string; transient: boolean; retryAfterMs?: number }
      /** It was taken from the record, with what followed from it. */
      readonly reused?: FailureOfRecord
    }
  | {
      readonly kind: 'tool_succeeded'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly durationMs: number
      readonly result: ToolResult
      /** The whole result, of which `result` shows a part: what the event says of it, and the text that is stored first. */
      readonly attached?: { readonly attachment: Attachment; readonly bytes: Uint8Array }
      readonly tested?: BodyOf<'tool_call_end'>['tested']
      /** Of a control tool: its parsed input, and what the runtime established for its decision. */
      readonly control?: { readonly input: unknown; readonly findings: Findings }
      /** The findings equal those of the record. */
      readonly reused?: Place
    }
  | CallOfRecord
  | LeaveRecord
  | {
      readonly kind: 'tool_failed'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly durationMs: number
      readonly error: { code: string; message: string; transient: boolean; beforeEffect: boolean }
    }
  /** Nothing was done: the tool has changed. `fits`: the arguments of the call are still such as it takes. `reason`: a sentence. */
  | {
      readonly kind: 'tool_changed'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly durationMs: number
      readonly tool: ToolMeaning
      readonly fits: boolean
      readonly reason: string
    }
  /** Nothing was done: a file on which the approval rests has changed since. `reason`: a sentence. */
  | {
      readonly kind: 'files_changed'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly durationMs: number
      readonly reason: string
    }
  /** It is unknown whether the call happened: its end was not seen, and no probe found out. `reason`: a sentence. */
  | {
      readonly kind: 'tool_in_doubt'
      readonly toolCallId: string
      readonly toolName: string
      readonly attempt: number
      readonly reason: string
      readonly reused?: Place
    }
  /** The files after the calls up to a step, which is that of the effect when it was begun. */
  | { readonly kind: 'versioned'; readonly step: number; readonly version: Version }
  | {
      readonly kind: 'drift_found'
      readonly expected: string
      readonly found: string
      readonly changed: readonly string[]
    }

/** A person puts files of a version back: recorded before the first file is touched. */
export type RequestRestore = { readonly kind: 'restore' } & BodyOf<'restore_requested'>
/** The end of that, once. */
export type EndRestore = { readonly kind: 'restore_ended' } & BodyOf<'restore_ended'>

/** What the runtime records in the name of a person. */
export type PersonCommand = UserCommand | RequestRestore | EndRestore

/** A shadow tree, or why there is none. */
export type Version = { readonly tree: string } | { readonly unversioned: Failure }

/** Erasure is no decision on the state: it works on what is stored (domain/stream/runtime/erasure/erase.ts). */
export type Command =
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

/** Obligations of this stream were delivered, or bounced. */
export type SettleDelivery = { readonly kind: 'delivered' } & Settled

/** `told`: the agent's model hears of it. */
export type Settled = Omit<BodyOf<'delivered'>, 'bounced'> & {
  readonly bounced: readonly (BodyOf<'delivered'>['bounced'][number] & { readonly told: boolean })[]
}

/** The stream of a child cannot be read. */
export interface LoseChild {
  readonly kind: 'child_lost'
  readonly childId: string
  readonly reason: string
}

/** Begins an agent: the root of its own run, or by `birth` a child in the run of its parent. */
export type Start = z.infer<typeof StartAgent> & { readonly birth?: Birth }

export interface Birth {
  readonly runId: string
  /** 1 below the root. */
  readonly depth: number
  readonly parent: { readonly agentId: string; readonly toolCallId: string }
}

/** Begins an agent with the history of another. `source`: the other's state at the point that the link names. */
export interface ForkAgent {
  readonly kind: 'fork'
  readonly source: AgentState
  readonly link: BodyOf<'forked'>
}

/** A person accepts that the agent's stream has lost its end. */
export interface AcceptLoss {
  readonly kind: 'accept_loss'
  readonly loss: BodyOf<'loss_accepted'>
}
