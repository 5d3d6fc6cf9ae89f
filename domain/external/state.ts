import type { Call } from '../calls/call.ts'
import type { CallRules } from '../calls/caller.ts'
import type { Courier } from '../courier/ledger.ts'
import { toolCallId } from '../log/ids.ts'
import type { Root } from '../log/root.ts'
import type { ExternalBodyOf, RecordedRequest } from './events.ts'
import type { ExitStatus } from './exit-status.ts'
import type { Hosted } from './hosted/state.ts'
import { OTLP } from './reported/backend.ts'
import type { Reported } from './reported/book.ts'
import { NO_SESSION_USAGE, type ReportedUsage, type SessionUsage, sessionUsage } from './usage.ts'

/** The stage of a run. `running` under an earlier epoch than the driver's: whether the process is alive is unknown. */
export type Stage =
  | { readonly at: 'requested' }
  | { readonly at: 'running'; readonly epoch: number; readonly since: number }
  | { readonly at: 'ended'; readonly outcome: ExternalEnd }

/** The part of an outcome in the state, without text. */
export type ExternalEnd =
  | { readonly kind: 'exited'; readonly exit: ExitStatus; readonly success: boolean }
  | { readonly kind: 'failed' | 'cancelled'; readonly exit: ExitStatus | null }
  /** `learned`: the true outcome was recorded later. */
  | { readonly kind: 'unknown'; readonly learned: boolean }

/**
 * A permission request of an agent. `argumentsHash`: the hash of the request's body. `askedAt`: ms. `decision` null:
 * undecided.
 */
export interface PermissionRequest {
  readonly toolCallId: string
  readonly argumentsHash: string
  readonly askedAt: number
  readonly decision: 'approved' | 'rejected' | null
}

export const NO_PERMISSIONS: ExternalState['permissions'] = { asked: 0, last: [] }

/** The calls of an external agent: of the keepup tools that it was given, or of its own tools in a hosted run. */
export interface OwnTools {
  /** The tools' definitions, and the policy for each call. */
  readonly spec: CallRules
  /** The salt of argument hashes, in hex. Empty: it was erased. */
  readonly hashSalt: string
  readonly asked: number
  /** The number of calls that have ended. */
  readonly step: number
  /** The calls that have not ended. */
  readonly open: readonly Call[]
}

/** The state of an external run. It contains no agent events, so it stays small. Times are ms since the epoch. */
export interface ExternalState {
  readonly agentId: string
  readonly runId: string
  readonly at: number
  readonly backend: string
  readonly request: RecordedRequest
  /** The hash of the body that contains the request. */
  readonly requestHash: string
  /** The commandIds of the start and of later requests: cancels and decisions. */
  readonly commands: readonly string[]
  readonly driver: { readonly id: string; readonly epoch: number } | null
  readonly stage: Stage
  /** When a person, or the delegating agent, cancelled the run. */
  readonly cancelledAt: number | null
  /** The number of recorded agent events, and a root hash over the bodies of the batches. */
  readonly events: Root
  readonly sessionId: string | null
  readonly usage: ReportedUsage | null
  /** `asked`: the number of permission requests; `last`: all open ones and some decided ones. */
  readonly permissions: { readonly asked: number; readonly last: readonly PermissionRequest[] }
  /** Absent: keepup governs no calls of the agent. */
  readonly tools?: OwnTools
  /** Absent: keepup, or another program over OTLP, runs the agent. */
  readonly hosted?: Hosted
  /** Absent: no span of the run was reported over OTLP. */
  readonly reported?: Reported
  /** Absent: the run continues no other run. */
  readonly continues?: ExternalBodyOf<'external_started'>['continues'] & object
  /** The stream of the delegating agent, which gets a report of the end; null: no agent delegated the run. */
  readonly reportsTo: string | null
  /** Quality gates of the role. No one checks them. */
  readonly gates: readonly string[]
  readonly courier: Courier
}

/**
 * The id of the agent's next permission request or tool call. The turn is 0, because an external agent has no turns.
 */
export const nextAskId = ({ agentId, permissions, tools }: ExternalState): string =>
  toolCallId(agentId, 0, permissions.asked + (tools?.asked ?? 0))

export const isRunOver = (state: ExternalState): boolean => state.stage.at === 'ended'

/** Whether a program reports the run over OTLP. Such a run has no driver and no process that keepup knows. */
export const isReported = ({ backend }: Pick<ExternalState, 'backend'>): boolean => backend === OTLP

/** Whether the driver that owns the run also runs its process. */
export const runsItself = ({ stage, driver }: ExternalState): boolean =>
  stage.at === 'running' && stage.epoch === driver?.epoch

/** Whether a driver of keepup runs the agent's process. */
export const hasProcess = (state: ExternalState): boolean => !isReported(state) && state.hosted === undefined

/** Whether the outcome is in doubt: a process was started, and its driver no longer owns the run. */
export const inDoubt = (state: ExternalState): boolean =>
  state.stage.at === 'running' && !runsItself(state) && hasProcess(state)

/** Extensions that continue an earlier session. */
const GOES_ON = ['agent_api.session.resume.v1', 'agent_api.session.fork.v1']

/** Whether a request continues an earlier session of the agent. */
export const goesOn = ({ extensions = {} }: Pick<RecordedRequest, 'extensions'>): boolean =>
  GOES_ON.some((name) => Object.hasOwn(extensions, name))

/** The usage of the run's session up to now. */
export function usedInSession({ usage, continues, request }: ExternalState): SessionUsage {
  const fresh = goesOn(request) ? null : NO_SESSION_USAGE
  return sessionUsage(usage, continues?.used ?? fresh)
}
