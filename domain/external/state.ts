import type { AgentSpec } from '../agent/definition/spec.ts'
import type { Call } from '../agent/state/call.ts'
import type { Courier } from '../agent/state/courier.ts'
import { toolCallId } from '../log/ids.ts'
import type { Root } from '../log/root.ts'
import type { RecordedRequest } from './events.ts'
import type { ExitStatus } from './exit-status.ts'
import type { Usage } from './usage.ts'

/** The stage of a run. `running` under an epoch that is no longer the driver's: it is not known whether the process lives. */
export type Stage =
  | { readonly at: 'requested' }
  | { readonly at: 'running'; readonly epoch: number; readonly since: number }
  | { readonly at: 'ended'; readonly outcome: Ended }

/** The part of an outcome that the state keeps: no text. */
export type Ended =
  | { readonly kind: 'exited'; readonly exit: ExitStatus; readonly success: boolean }
  | { readonly kind: 'failed' | 'cancelled'; readonly exit: ExitStatus | null }
  /** `learned`: the true outcome came later. */
  | { readonly kind: 'unknown'; readonly learned: boolean }

/** A permission that an agent asks for. `argumentsHash`: of the body that asks. `decision` null: it waits for one. */
export interface Permission {
  readonly toolCallId: string
  readonly argumentsHash: string
  readonly decision: 'approved' | 'rejected' | null
}

export const NO_PERMISSIONS: ExternalState['permissions'] = { asked: 0, last: [] }

/** keepup's own tools that an agent reaches, and its calls of them. */
export interface OwnTools {
  /** Their definitions, and the policy that each call is judged by. */
  readonly spec: AgentSpec
  /** Hex; what hashes of arguments begin with. Empty: it was erased. */
  readonly argumentsSalt: string
  readonly asked: number
  /** How many have ended. */
  readonly step: number
  /** Those that have not. */
  readonly open: readonly Call[]
}

/** The state of an external run. It holds no agent event, so that it stays small. Times are ms since the epoch. */
export interface ExternalState {
  readonly agentId: string
  readonly runId: string
  readonly at: number
  readonly backend: string
  readonly request: RecordedRequest
  /** The hash of the body that the request came in. */
  readonly requestHash: string
  /** The commands of the requests so far: the start, and a cancel. */
  readonly commands: readonly string[]
  readonly driver: { readonly id: string; readonly epoch: number } | null
  readonly stage: Stage
  /** When a person, or the agent that delegated the run, asked for its end. */
  readonly cancelledAt: number | null
  /** How many agent events are recorded, and a root over the batches' bodies. */
  readonly events: Root
  readonly sessionId: string | null
  readonly usage: Usage | null
  /** How many times the agent has asked leave, and the last of these: those that are open, and some that were decided. */
  readonly permissions: { readonly asked: number; readonly last: readonly Permission[] }
  /** Absent: it reaches none. */
  readonly tools?: OwnTools
  /** The stream of the agent that delegated the run, which is owed its end; null: none is. */
  readonly reportsTo: string | null
  /** Quality gates of its role, which nothing checks. */
  readonly gates: readonly string[]
  readonly courier: Courier
}

/**
 * The id of the next thing that the agent asks for: leave for what it is to do, or a tool of keepup's. An agent of another kind has
 * no turns.
 */
export const nextAskId = ({ agentId, permissions, tools }: ExternalState): string =>
  toolCallId(agentId, 0, permissions.asked + (tools?.asked ?? 0))

export const isFinished = (state: ExternalState): boolean => state.stage.at === 'ended'

/** Does the driver that holds the run run the process too? */
export const runsItself = ({ stage, driver }: ExternalState): boolean =>
  stage.at === 'running' && stage.epoch === driver?.epoch

/** Is a process recorded whose driver has lost the run? Its outcome is in doubt. */
export const inDoubt = (state: ExternalState): boolean => state.stage.at === 'running' && !runsItself(state)
