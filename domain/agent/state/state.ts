import { EMPTY_ROOT, type Root } from '../../log/root.ts'
import type { AgentSpec } from '../definition/spec.ts'
import type { Usage } from '../events/content.ts'
import type { BodyOf } from '../events/events.ts'
import { NO_TASKS, type TaskGraph } from '../tasks/state.ts'
import { type Compression, UNCOMPRESSED } from '../window/compression-state.ts'
import { type Bus, NO_MESSAGES } from './bus.ts'
import type { Call, CallStage } from './call.ts'
import { type Courier, NO_OBLIGATIONS } from './courier.ts'
import { type Family, NO_FAMILY } from './family.ts'
import type { Loss } from './loss.ts'
import { type Activity, type Machine, openCalls, type Recovery } from './machine.ts'
import type { Permission } from './permissions.ts'
import type { Restoring } from './restores.ts'
import type { Reuse } from './reuse.ts'

// The folded state of one agent: plain JSON, whose size depends on the open turn and not on the length of the run.
// Messages, context variables and events are represented by rolling roots.

export type * from './machine.ts'
export type { Call, CallStage }

/** A model attempt that was given up, and what it was put on the bill with. */
export interface LostAttempt {
  readonly turn: number
  readonly attempt: number
  readonly model: string
  readonly usage: Usage
  readonly nanoDollars: number | null
  /** Revision of the fact. */
  readonly since: number
}

/** Driven time: it does not advance without a driver, nor while the agent waits for people. */
export interface WorkClock {
  readonly workedMs: number
  /** The last instant that was counted, ms. */
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

/** A recorded fact: the revision and the body hash of its event. */
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
    /** Those of the parent, the root first; absent: it is a root. */
    readonly ancestors?: readonly string[] | undefined
  } | null
  readonly spec: AgentSpec
  /** Body hash of the event the spec came from. */
  readonly specHash: string
  /** Hex; what hashes of arguments begin with. Empty: it was erased. */
  readonly argumentsSalt: string
  readonly revision: number
  readonly at: number
  readonly machine: Machine
  /** The last turn that was started; 0 before the first. */
  readonly turn: number
  readonly step: number
  readonly phase: string
  /** `phase/check` of the gates that hold, sorted. */
  readonly gatesPassed: readonly string[]
  /** User inputs that no turn has read: how many, and what they are. */
  readonly unread: number
  readonly unreadRoot: Root
  readonly messages: Root
  readonly variables: Root
  readonly spent: Spent
  /** The spending of a fork's sources up to it: on their bills, and no part of its own budget. */
  readonly inherited: Spent
  /** The parts of model requests beside the messages, as last recorded; null: no model was called yet. */
  readonly prompt: Prompt | null
  readonly toolset: Toolset | null
  /** Input tokens of the last model call, and bytes that joined the messages since. */
  readonly context: { readonly tokens: number; readonly bytes: number }
  readonly compression: Compression
  readonly clock: WorkClock
  readonly driver: { readonly id: string; readonly epoch: number } | null
  readonly paused: boolean
  readonly stepping: boolean
  readonly cancel: { readonly deadlineAt: number; readonly by: string; readonly reason?: string | undefined } | null
  /** Turns in a row with a violation, with text only, with a failed model. */
  readonly violations: number
  readonly textOnly: number
  readonly modelFailures: number
  readonly failedModel: string | null
  /** Models of a routed run that have failed since the last answer; absent in states of earlier builds. */
  readonly failedModels?: readonly string[]
  /** `tool:argumentsHash` of calls that failed for good while nothing changed. */
  readonly failedCalls: readonly string[]
  /** Revision of the last event that made such calls worth trying again, other than a call. */
  readonly forgivenAt: number
  /** The last test command: its exit code, and the tree it ran on; null while no version tells. */
  readonly tested: { readonly exitCode: number | null; readonly tree: string | null; readonly step: number } | null
  /** The last version of the workspace that was recorded. */
  readonly tree: string | null
  /** Steps whose calls may have changed files since then: the first and the last. A version of them is owed. */
  readonly unversioned: { readonly from: number; readonly to: number } | null
  /** Frontiers of the documents that the agent has touched, by document id: as its last call on each has left them. */
  readonly documents: Readonly<Record<string, string>>
  /** Calls that ended with an unknown outcome and have not been resolved since. */
  readonly unresolved: readonly string[]
  /**
   * Attempts of calls that were abandoned before their end was seen, the latest {@link LOST_KEPT}; their outcome may
   * still arrive.
   */
  readonly abandoned: readonly AbandonedAttempt[]
  /** Model attempts that were given up, by estimate on the bill until their answer is known; at most {@link LOST_KEPT}. */
  readonly lostAttempts: readonly LostAttempt[]
  /** The calls that an accepted loss of the log's end leaves to be settled; null: nothing. */
  readonly loss: Loss | null
  /** Revision of the last event from which something follows by itself. */
  readonly follows: number
  /** Types of the artifacts registered so far, sorted. */
  readonly artifactTypes: readonly string[]
  readonly standing: readonly string[]
  /** What people have permitted beyond the policy. Absent in states of earlier builds. */
  readonly permissions?: readonly Permission[]
  /** Absent in states of earlier builds. */
  readonly tasks?: TaskGraph
  /** Null: no restore of files is open. Absent in states of earlier builds. */
  readonly restoring?: Restoring | null
  readonly lastText: string
  /** The outermost request that set the agent going, and that of the input that no turn has read. */
  readonly correlation: string
  readonly unreadCorrelation: string | null
  /** The obligations of this stream to other streams, and its deliveries from them. */
  readonly courier: Courier
  /** The agent's place among those that it was started by and has started. */
  readonly family: Family
  /** Messages that it owes an answer, and, of the root, the subscriptions of the run. */
  readonly bus: Bus
  /** Of a fork that takes recorded outcomes; null: it takes none. Absent in states of earlier builds. */
  readonly reuse?: Reuse | null
  /** Command ids of people's requests, the latest {@link REMEMBERED}. */
  readonly commands: readonly string[]
}

/** How many of people's command ids a state remembers for repeated requests. */
export const REMEMBERED = 256

/** A driver that still waits for an older attempt is not expected; its late answer changes no bill. */
export const LOST_KEPT = 16
/** `sign` -1 takes it off again. */
export const addSpent = (a: Spent, b: Spent, sign: 1 | -1 = 1): Spent => ({
  input: a.input + sign * b.input,
  output: a.output + sign * b.output,
  cacheRead: a.cacheRead + sign * b.cacheRead,
  cacheWrite: a.cacheWrite + sign * b.cacheWrite,
  nanoDollars: a.nanoDollars + sign * b.nanoDollars,
})

export const NOTHING_SPENT: Spent = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, nanoDollars: 0 }

/** The state that `agent_started` and `forked` write over. */
export const BLANK: Omit<AgentState, 'spec'> = {
  agentId: '',
  runId: '',
  depth: 0,
  parent: null,
  specHash: '',
  argumentsSalt: '',
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

/** The agent's current work, inside recovery or not; null where it is at nothing. */
export function activityOf(machine: Machine): Activity | null {
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

/** The same machine at another activity, still in recovery where it was. */
export function withActivity(machine: Machine, activity: Activity): Machine {
  return machine.status === 'RECOVERY' ? { ...machine, activity } : activity
}

export const recoveryOf = (machine: Machine): Recovery | null =>
  machine.status === 'RECOVERY' ? machine.recovery : null

export const isFinished = (state: AgentState): boolean =>
  state.machine.status === 'DONE' || state.machine.status === 'ERROR'

/** A turn_start without its turn_end. */
export function turnIsOpen(state: AgentState): boolean {
  const activity = activityOf(state.machine)
  return activity !== null && !(activity.status === 'OBSERVATION' && activity.ended)
}

/** The calls of the open or just ended turn. */
export function callsOf(state: AgentState): readonly Call[] {
  return openCalls(state.machine)
}
