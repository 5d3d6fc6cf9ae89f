import type { Call, CallStage } from '../../calls/call.ts'
import type { Usage } from '../../calls/content.ts'
import type { Permission } from '../../calls/permissions.ts'
import { type Courier, NO_OBLIGATIONS } from '../../courier/ledger.ts'
import { EMPTY_ROOT, type Root } from '../../log/root.ts'
import { type Family, NO_FAMILY } from '../../tree/family.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import type { BodyOf } from '../events/events.ts'
import { NO_TASKS, type TaskGraph } from '../tasks/state.ts'
import { type Compression, UNCOMPRESSED } from '../window/compression-state.ts'
import type { LossToSettle } from './loss.ts'
import { type Activity, openCalls, type Recovery, type StateMachine } from './machine.ts'
import { type Bus, NO_MESSAGES } from './message-bus.ts'
import type { Restoring } from './restores.ts'
import type { Reuse } from './reuse.ts'

// The folded state of one agent: plain JSON whose size depends on the open turn, not on the length of the run. Rolling
// roots represent messages, context variables and inputs.

export type * from './machine.ts'
export type { Call, CallStage }

/** An abandoned model attempt, with the estimate that was billed. */
export interface LostAttempt {
  readonly turn: number
  readonly attempt: number
  readonly model: string
  readonly usage: Usage
  readonly nanoDollars: number | null
  /** Revision of the `model_attempt_lost`. */
  readonly since: number
}

/** Work time. It stops without a driver and while the agent waits for people. */
export interface WorkClock {
  readonly workedMs: number
  /** The last counted instant, ms. */
  readonly countedTo: number
  readonly running: boolean
}

export interface Spent {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly nanoDollars: number
}

/** A recorded fact: the revision and body hash of its event. */
interface Source {
  readonly revision: number
  readonly hash: string
}
export type Prompt = Source & Readonly<BodyOf<'prompt_set'>>
export type Toolset = Source & Readonly<BodyOf<'tools_changed'>>

export interface AbandonedAttempt {
  readonly toolCallId: string
  readonly attempt: number
}

export interface AgentState {
  readonly agentId: string
  readonly runId: string
  readonly depth: number
  readonly parent: {
    readonly agentId: string
    readonly toolCallId: string
    /** Ancestors of the parent, the root first; absent: the parent is a root. */
    readonly ancestors?: readonly string[] | undefined
  } | null
  readonly spec: AgentSpec
  readonly specHash: string
  /** Prefix of argument hashes, hex; empty: erased. */
  readonly hashSalt: string
  readonly revision: number
  readonly at: number
  readonly machine: StateMachine
  /** The last started turn; 0 before the first. */
  readonly turn: number
  readonly step: number
  readonly phase: string
  /** `phase/check` of the passed gates, sorted. */
  readonly gatesPassed: readonly string[]
  /** Inputs that no turn has read: their number and their root. */
  readonly unread: number
  readonly unreadRoot: Root
  readonly messages: Root
  readonly variables: Root
  readonly spent: Spent
  /** Spending of a fork's sources up to the fork. It is on their bills and not part of the fork's budget. */
  readonly inherited: Spent
  /** The parts of model requests besides the messages, as last recorded; null: no model was called yet. */
  readonly prompt: Prompt | null
  readonly toolset: Toolset | null
  /** Tokens of the last model call (input and output), and bytes that joined the messages since. */
  readonly context: { readonly tokens: number; readonly bytes: number }
  readonly compression: Compression
  readonly clock: WorkClock
  readonly driver: { readonly id: string; readonly epoch: number } | null
  readonly paused: boolean
  readonly stepping: boolean
  readonly cancel: { readonly deadlineAt: number; readonly by: string; readonly reason?: string | undefined } | null
  /** Consecutive turns with a violation, with text only, or with a failed model. */
  readonly violations: number
  readonly textOnly: number
  readonly modelFailures: number
  readonly failedModel: string | null
  /** Models of a routed run that failed since the last answer. Absent in states of earlier builds. */
  readonly failedModels?: readonly string[]
  /** `tool:argumentsHash` of calls that failed for good while nothing changed. */
  readonly failedCalls: readonly string[]
  /** Revision of the last event, other than a call, after which failed calls may succeed. */
  readonly forgivenAt: number
  /**
   * The last test command. `exitCode` null: a signal ended it. `tree`: the files it ran on; null: not versioned yet.
   */
  readonly tested: { readonly exitCode: number | null; readonly tree: string | null; readonly step: number } | null
  readonly tree: string | null
  /** First and last step since that version whose calls may have changed files; a version is due. Null: none. */
  readonly unversioned: { readonly from: number; readonly to: number } | null
  /** By document id: frontiers of the documents, as the agent's last call on each document left them. */
  readonly documents: Readonly<Record<string, string>>
  /** Calls that ended with an unknown outcome and are not resolved. */
  readonly unresolved: readonly string[]
  /** The latest {@link LOST_KEPT} attempts of calls that were abandoned. Their outcome may still arrive. */
  readonly abandoned: readonly AbandonedAttempt[]
  /** Abandoned model attempts, billed by estimate until their answer is known; at most {@link LOST_KEPT}. */
  readonly lostAttempts: readonly LostAttempt[]
  /** Calls of an accepted loss that have to be settled; null: none. */
  readonly loss: LossToSettle | null
  /** Revision of the last event that causes a further step by itself. */
  readonly follows: number
  /** Types of the artifacts registered so far, sorted. */
  readonly artifactTypes: readonly string[]
  readonly standing: readonly string[]
  /** Permissions beyond the policy. Absent in states of earlier builds. */
  readonly permissions?: readonly Permission[]
  /** Absent in states of earlier builds. */
  readonly tasks?: TaskGraph
  /** Null: no restore is open. Absent in states of earlier builds. */
  readonly restoring?: Restoring | null
  readonly lastText: string
  /** Correlation ids of the outermost request that started the current work, and of the last unread input. */
  readonly correlation: string
  readonly unreadCorrelation: string | null
  readonly courier: Courier
  readonly family: Family
  readonly bus: Bus
  /** Only for a fork that copies recorded outcomes; null: it copies none. Absent in states of earlier builds. */
  readonly reuse?: Reuse | null
  readonly commands: readonly string[]
}

/** The number of command ids that a state remembers to detect repeated requests. */
export const REMEMBERED = 256

/** The most abandoned attempts that a state keeps. A late answer to an older attempt changes no bill. */
export const LOST_KEPT = 16
/** `sign` -1 subtracts. */
export const addSpent = (a: Spent, b: Spent, sign: 1 | -1 = 1): Spent => ({
  input: a.input + sign * b.input,
  output: a.output + sign * b.output,
  cacheRead: a.cacheRead + sign * b.cacheRead,
  cacheWrite: a.cacheWrite + sign * b.cacheWrite,
  nanoDollars: a.nanoDollars + sign * b.nanoDollars,
})

export const NOTHING_SPENT: Spent = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, nanoDollars: 0 }

/** The initial state, before `agent_started`. */
export const BLANK: Omit<AgentState, 'spec'> = {
  agentId: '',
  runId: '',
  depth: 0,
  parent: null,
  specHash: '',
  hashSalt: '',
  revision: -1,
  at: 0,
  machine: { status: 'IDLE' },
  turn: 0,
  step: 0,
  phase: '',
  gatesPassed: [],
  unread: 0,
  unreadRoot: EMPTY_ROOT,
  messages: EMPTY_ROOT,
  variables: EMPTY_ROOT,
  spent: NOTHING_SPENT,
  inherited: NOTHING_SPENT,
  prompt: null,
  toolset: null,
  context: { tokens: 0, bytes: 0 },
  compression: UNCOMPRESSED,
  clock: { workedMs: 0, countedTo: 0, running: false },
  driver: null,
  paused: false,
  stepping: false,
  cancel: null,
  violations: 0,
  textOnly: 0,
  modelFailures: 0,
  failedModel: null,
  failedModels: [],
  failedCalls: [],
  forgivenAt: -1,
  tested: null,
  tree: null,
  unversioned: null,
  documents: {},
  unresolved: [],
  abandoned: [],
  lostAttempts: [],
  loss: null,
  follows: 0,
  artifactTypes: [],
  standing: [],
  permissions: [],
  tasks: NO_TASKS,
  restoring: null,
  lastText: '',
  correlation: '',
  unreadCorrelation: null,
  courier: NO_OBLIGATIONS,
  family: NO_FAMILY,
  bus: NO_MESSAGES,
  reuse: null,
  commands: [],
}

/** The agent's current activity, also during recovery; null: none. */
export function activityOf(machine: StateMachine): Activity | null {
  switch (machine.status) {
    case 'THINKING':
    case 'TOOL_WAIT':
    case 'OBSERVATION':
      return machine
    case 'RECOVERY':
      return machine.activity
    default:
      return null
  }
}

/** The machine with another activity; a recovery continues. */
export function withActivity(machine: StateMachine, activity: Activity): StateMachine {
  return machine.status === 'RECOVERY' ? { ...machine, activity } : activity
}

export const recoveryOf = (machine: StateMachine): Recovery | null =>
  machine.status === 'RECOVERY' ? machine.recovery : null

export const isFinished = (state: AgentState): boolean =>
  state.machine.status === 'DONE' || state.machine.status === 'ERROR'

/** Whether a `turn_start` has no `turn_end` yet. */
export function turnIsOpen(state: AgentState): boolean {
  const activity = activityOf(state.machine)
  return activity !== null && !(activity.status === 'OBSERVATION' && activity.ended)
}

export function callsOf(state: AgentState): readonly Call[] {
  return openCalls(state.machine)
}
