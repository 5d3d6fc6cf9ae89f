import type { AgentEventBody, ExternalAgentEvent } from '../external/agent-event.ts'
import type { ExternalCommand, ExternalFact } from '../external/commands.ts'
import type { Confinement } from '../external/confinement.ts'
import type { RightsLevel } from '../external/delegation.ts'
import type { ExitStatus } from '../external/exit-status.ts'
import type { Terms } from '../external/limits.ts'
import type { Outcome } from '../external/outcome.ts'
import type { Advertised, AgentRunRequest } from '../external/request.ts'
import type { FunctionSpec } from '../external/spawn/functions.ts'
import type { ExternalState } from '../external/state.ts'
import type { ReportedUsage } from '../external/usage.ts'
import type { Actor, SealedEvent } from '../log/envelope.ts'
import type { Json } from '../log/json.ts'

export type { AgentEventBody, AgentRunRequest, ExitStatus, ExternalAgentEvent, ReportedUsage }

/** A run of an external agent (seed 002). Disposing it cancels the run. */
export interface AgentRunHandle extends AsyncDisposable {
  /** The id of the run in the log. The stream is `external-<agentId>`. */
  readonly agentId: string
  /** The run's own id, or the run of the delegating agent. */
  readonly runId: string
  /** The backend's id of the session; null: not known yet. */
  readonly sessionId: string | null
  /** All events in order, from the log. Can be iterated repeatedly, also after the end. */
  readonly events: AsyncIterable<ExternalAgentEvent>
  /**
   * Settles once, after the process has exited and all started iterators of `events` have ended. Rejects with an
   * AgentError.
   */
  readonly completion: Promise<AgentCompletion>
  /** Requests the end of the process. Idempotent; has no effect after `completion` has settled. */
  cancel(reason?: string, by?: Actor): void
  /** Call after another process recorded an event of the run, such as a decision. Absent: the run polls the log. */
  notice?(): void
}

/**
 * The outcome of a run that ended by itself. `success`: whether the agent did its work, which the exit code alone does
 * not show.
 */
export interface AgentCompletion {
  readonly status: ExitStatus
  readonly success: boolean
  readonly finalText: string | null
}

/** A backend's report during a run. */
export interface Mapped {
  readonly events?: readonly AgentEventBody[]
  /** The backend's id of the session. */
  readonly sessionId?: string
  readonly usage?: ReportedUsage
}

/** The answer of a keepup tool to an external agent. */
export interface ToolAnswer {
  readonly text: string
  /** The text describes an error. */
  readonly isError: boolean
}

/** The keepup tools for one run. Each call is planned, approved and recorded like the calls of keepup agents. */
export interface OfferedTools {
  /** `readOnly`: a call changes nothing. */
  list(): readonly (FunctionSpec & { readonly readOnly: boolean })[]
  /**
   * Calls a tool. A refused call also gives an answer. `signal` aborts when the agent no longer waits. Rejects if the
   * log fails.
   */
  call(name: string, args: Json, signal: AbortSignal): Promise<ToolAnswer>
}

/** One run, from the backend's view. */
export interface BackendRun {
  readonly agentId: string
  /** Aborts when the process must end. */
  readonly signal: AbortSignal
  /** Records a report. If a promise is returned, read on only after it resolves. Rejects if the log fails. */
  emit(mapped: Mapped): Promise<void> | undefined
  /**
   * Requests a permission from a person. Resolves with the decision, or with null if the run ends first. The request is
   * recorded as an open approval; requests over a limit are rejected. Rejects if the log fails. Absent: no person can
   * be asked, so the answer is no.
   */
  ask?(asked: PermissionAsked): Promise<'approved' | 'rejected' | null>
  /** The keepup tools that the agent may call while it runs. Absent: no tools. */
  readonly tools?: OfferedTools
  /** False: the log records that the process runs unconfined. Absent: the backend's options decide. */
  readonly confined?: boolean
}

/** A permission request of an agent. */
export interface PermissionAsked {
  /** The agent's name for the tool or for its kind. */
  readonly tool: string
  /** The agent's description of the action. */
  readonly title: string
  /** The input of the tool, as JSON. */
  readonly input: Json
}

/**
 * One kind of external agent. `start` is called once per run, after validation. It resolves when the process has exited
 * and all of its output was emitted. It rejects with an AgentError `Backend` or `UnsupportedCapability`.
 */
export interface AgentBackend extends Advertised {
  start(request: AgentRunRequest, run: BackendRun): Promise<AgentCompletion>
  /**
   * Whether this host can confine the process of a request. Rejects with AgentError `Backend` if the program would not
   * be visible inside the sandbox. Absent: the backend starts no process.
   */
  confinement?(request: AgentRunRequest): Promise<Confinement>
  /** Why an agent started with this request could change no files, and what to add, as a sentence; null: it can. */
  withoutRights?(request: AgentRunRequest): string | null
  /**
   * Checks whether the agent can be started on this machine, without calls to the model's service. Absent: it always
   * can.
   */
  inspect?(): Promise<BackendState>
  /** Ways to start the agent as a child of a keepup agent, with the rights of each. Absent: no delegation. */
  readonly levels?: readonly RightsLevel[]
  /** Whether the backend gives its agent the `tools` of a run. Absent: it does not. */
  readonly takesTools?: boolean
  /** Whether the backend reports the cost of a run. Absent: a money budget needs a price. */
  readonly reportsCost?: boolean
  /** The backend's extension that limits the cost of a run, in dollars. */
  readonly budgetExtension?: `backend.${string}`
}

/** The state of a backend on this machine. */
export interface BackendState {
  readonly installed: boolean
  /** The version that the program reports; null: it reports none. */
  readonly version: string | null
  /** The variable or file with a login; null: no login was found. Absent: the place of a login is unknown. */
  readonly login?: string | null
  /** Why the backend is unusable, and what to do. */
  readonly problem?: string
}

/** The log of external runs. */
export interface ExternalLog {
  /** Records the request, the facts, and the intent to start the process. Resolves when all are durable. */
  begin(
    start: Extract<ExternalCommand, { kind: 'start' }>,
    asked?: StartedBy,
    facts?: readonly ExternalFact[],
    confinement?: Confinement,
  ): Promise<ExternalRunLog>
  /** Like {@link begin}, for a delegated run whose request is already recorded. */
  take(agentId: string, facts?: readonly ExternalFact[], confinement?: Confinement): Promise<ExternalRunLog>
}

/** The starter of a run, with the run's id and command. Absent: the gateway, with a random id. */
export interface StartedBy extends Terms {
  readonly by?: Actor
  readonly agentId?: string
  readonly commandId?: string
  /** Another run of the same caller has locked the working folder and shares it with this run. */
  readonly sharesFolder?: boolean
  /** False: the process runs unconfined. Absent: the settings decide. */
  readonly sandboxed?: boolean
  /** The name of the run in a spawn. */
  readonly name?: string
  /** The ended run whose session the request resumes. */
  readonly continues?: Extract<ExternalCommand, { kind: 'start' }>['continues']
  /** The delegating agent, its call, and the run that the new agent belongs to. */
  readonly parent?: {
    readonly agentId: string
    readonly toolCallId: string
    readonly depth: number
    readonly runId: string
  }
}

/** A run in the log. */
export interface RecordedRun {
  readonly state: ExternalState
  /** Null: the run has not ended, or its outcome was erased. */
  readonly outcome: Outcome | null
  /** All recorded agent events, in order. */
  readonly events: AsyncIterable<AgentEventBody>
}

/** External runs of a host. */
export interface ExternalRuns {
  /** Starts a run. Rejects with the errors of `AgentGateway.run`. */
  run(kind: string, request: AgentRunRequest, asked?: StartedBy): Promise<AgentRunHandle>
  /** A run that is active in this process. */
  at(agentId: string): AgentRunHandle | undefined
  /** Null: the run does not exist. */
  recorded(agentId: string): Promise<RecordedRun | null>
  /** Cancels a run in any process. Has no effect after the end of the run. */
  stop(agentId: string, reason: string): Promise<void>
}

/** The files of a working folder that a run has locked. */
export interface HeldFiles {
  /** Stores a version of the current files and returns its id. */
  snapshot(): Promise<string>
  release(): void
}

/** The stream of one run. */
export interface ExternalRunLog {
  readonly agentId: string
  /** The state as of the last read or append. */
  readonly state: ExternalState
  /** Another driver has claimed the run. */
  readonly lost: boolean
  /** Other processes may append events to the run. */
  readonly shared: boolean
  /** Reads new events from the log. */
  look(): Promise<void>
  /**
   * Appends facts in order and in one append. Resolves when they are durable. Facts that are already recorded change
   * nothing.
   */
  append(facts: readonly (ExternalFact | Extract<ExternalCommand, { kind: 'cancel' }>)[]): Promise<void>
  /** Agent events from an index on, not necessarily all. Empty: no more are recorded yet. */
  read(from: number): Promise<readonly AgentEventBody[]>
  /** Calls the listener with events that were appended or read. Returns a function that removes the listener. */
  listen(listener: (events: readonly SealedEvent[]) => void): () => void
}

/** Redacts secrets in recorded values. */
export interface Hiding {
  value<T extends Json>(value: T): T
  /** A filter for the texts of an agent. A secret may span several texts. */
  texts(): TextsFilter
}

/** A filter for a sequence of texts. The filter may hold back the end of a text until the next text. */
export interface TextsFilter {
  /** The texts that are ready now. The last one belongs to the given text and may be empty. */
  push(text: string): readonly string[]
  /** The texts that were held back. */
  end(): readonly string[]
}

export type { Outcome }
