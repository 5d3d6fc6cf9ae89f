import type { AgentEvent, AgentEventBody } from '../external/agent-event.ts'
import type { ExternalCommand, ExternalFact } from '../external/commands.ts'
import type { Confinement } from '../external/confinement.ts'
import type { RightsLevel } from '../external/delegation.ts'
import type { ExitStatus } from '../external/exit-status.ts'
import type { Terms } from '../external/limits.ts'
import type { Outcome } from '../external/outcome.ts'
import type { Advertised, AgentRunRequest } from '../external/request.ts'
import type { FunctionSpec } from '../external/spawn/functions.ts'
import type { ExternalState } from '../external/state.ts'
import type { Usage } from '../external/usage.ts'
import type { Actor, SealedEvent } from '../log/envelope.ts'
import type { Json } from '../log/json.ts'

export type { AgentEvent, AgentEventBody, AgentRunRequest, ExitStatus, Usage }

/** A run of an agent (seed 002). Disposing of it cancels it. */
export interface AgentRunHandle extends AsyncDisposable {
  /** Names the run in the log: its stream is `external-<agentId>`. */
  readonly agentId: string
  /** The run that the agent is a part of: its own, or that of the agent that it works for. */
  readonly runId: string
  /** The backend's own id of the session, as far as it is known by now; null: it has told none. */
  readonly sessionId: string | null
  /** All events in order, from the log. It can be iterated more than once, also after the end. */
  readonly events: AsyncIterable<AgentEvent>
  /** Settles once, after the process has exited and the events have ended for the consumer. Rejects with an AgentError. */
  readonly completion: Promise<AgentCompletion>
  /** Asks for the end of the process. Idempotent; nothing once `completion` has settled. */
  cancel(reason?: string, by?: Actor): void
  /** Says that others recorded something about the run, such as a decision that it waits for. Absent: it hears by itself. */
  notice?(): void
}

/** The outcome of a run that ended by itself. `success`: the agent did its work, which the exit code alone does not tell. */
export interface AgentCompletion {
  readonly status: ExitStatus
  readonly success: boolean
  readonly finalText: string | null
}

/** The reports of a backend on a run while it lasts. */
export interface Mapped {
  readonly events?: readonly AgentEventBody[]
  /** The backend's own id of the session. */
  readonly sessionId?: string
  readonly usage?: Usage
}

/** The answer of a tool to an agent of another kind. */
export interface ToolAnswer {
  readonly text: string
  /** The text says what failed. */
  readonly isError: boolean
}

/** keepup's own tools for one run. Each call is judged, approved and recorded as those of keepup's own agents are. */
export interface OfferedTools {
  /** `readOnly`: a call changes nothing. */
  list(): readonly (FunctionSpec & { readonly readOnly: boolean })[]
  /** Answers also what was refused. `signal`: aborts when the agent waits no longer. Rejects where the log fails. */
  call(name: string, args: Json, signal: AbortSignal): Promise<ToolAnswer>
}

/** One run, as its backend sees it. */
export interface BackendRun {
  readonly agentId: string
  /** Aborted: the process is to be ended. */
  readonly signal: AbortSignal
  /** Records what was mapped. A promise: the sink is not ready; read on when it resolves. It rejects where the log fails. */
  emit(mapped: Mapped): Promise<void> | undefined
  /**
   * Asks a person for leave, and resolves when that is decided, with null where the run ends first. It is recorded as an
   * approval that waits; of many at once the last ones are rejected. Rejects where the log fails. Absent: no person can be asked, which means no.
   */
  ask?(asked: PermissionAsked): Promise<'approved' | 'rejected' | null>
  /** keepup's own tools, which the agent may call while it runs. Absent: it may call none. */
  readonly tools?: OfferedTools
  /** False: the log says that the process runs unconfined. Absent: the backend's options decide. */
  readonly confined?: boolean
}

/** A permission that an agent asks for. */
export interface PermissionAsked {
  /** The agent's own name of the tool, or of its kind. */
  readonly tool: string
  /** The agent's description of it. */
  readonly title: string
  /** The input of the tool, as JSON. */
  readonly input: Json
}

/**
 * One kind of agent. `start` is called once per run, after validation, and resolves when the process has exited and all of
 * its output was emitted. It rejects with an AgentError `Backend` or `UnsupportedCapability`.
 */
export interface AgentBackend extends Advertised {
  start(request: AgentRunRequest, run: BackendRun): Promise<AgentCompletion>
  /**
   * Whether this host can confine the process of a request. Rejects with AgentError `Backend` where the program could not be
   * seen inside. Absent: the backend starts no process.
   */
  confinement?(request: AgentRunRequest): Promise<Confinement>
  /** Why an agent that a person starts so could change no file, with what to add, as a sentence; null: it can. */
  withoutRights?(request: AgentRunRequest): string | null
  /** Looks whether it can be started on this machine; nothing of the model's service is asked. Absent: it always can. */
  inspect?(): Promise<BackendState>
  /** Ways to start it for a child of keepup's own agent, by the rights that each gives. Absent: it is delegated nothing. */
  readonly levels?: readonly RightsLevel[]
  /** It leads its agent to `tools` of a run. Absent: it leads it to none. */
  readonly takesTools?: boolean
  /** It tells what a run costs. Absent: a budget of money needs a price. */
  readonly reportsCost?: boolean
  /** Its own extension that ends a run at so many dollars. */
  readonly budgetExtension?: `backend.${string}`
}

/** The state of a backend on this machine. */
export interface BackendState {
  readonly installed: boolean
  /** As the program tells it; null: it tells none. */
  readonly version: string | null
  /** The variable or file in which a login was found; null: none was found. Absent: it is not known where one would be. */
  readonly login?: string | null
  /** Why it cannot be used, and what to do. */
  readonly problem?: string
}

/** Where external runs are recorded. */
export interface ExternalLog {
  /** Records the request, the facts, and the intent to start the process: resolves when all are durable. */
  begin(
    start: Extract<ExternalCommand, { kind: 'start' }>,
    asked?: StartedBy,
    facts?: readonly ExternalFact[],
    confinement?: Confinement,
  ): Promise<ExternalRunLog>
  /** The same for a run that another agent has delegated: its request is recorded by then. */
  take(agentId: string, facts?: readonly ExternalFact[], confinement?: Confinement): Promise<ExternalRunLog>
}

/** The starter of a run, with its id and command; absent: the gateway itself, under an id that is drawn. */
export interface StartedBy extends Terms {
  readonly by?: Actor
  readonly agentId?: string
  readonly commandId?: string
  /** Another run of the same caller holds the working folder, and lets this one work there too. */
  readonly sharesFolder?: boolean
  /** False: the process runs unconfined. Absent: the settings decide. */
  readonly sandboxed?: boolean
  /** The name under which it is spawned. */
  readonly name?: string
  /** The agent that it works for, the call by which it came, and the run that it is a part of. */
  readonly parent?: {
    readonly agentId: string
    readonly toolCallId: string
    readonly depth: number
    readonly runId: string
  }
}

/** A run as the log has it. */
export interface RecordedRun {
  readonly state: ExternalState
  /** Null: it has not ended, or what it came to was erased. */
  readonly outcome: Outcome | null
  /** All that was recorded of what the agent told, in order. */
  readonly events: AsyncIterable<AgentEventBody>
}

/** Runs of other agents, as a host performs and records them. */
export interface ExternalRuns {
  /** Rejects as `AgentGateway.run` does. */
  run(kind: string, request: AgentRunRequest, asked?: StartedBy): Promise<AgentRunHandle>
  /** A run that is at work in this process. */
  at(agentId: string): AgentRunHandle | undefined
  /** Null: there is no such run. */
  recorded(agentId: string): Promise<RecordedRun | null>
  /** Asks for the end of a run, in whatever process it is at work; nothing where it has ended. */
  stop(agentId: string, reason: string): Promise<void>
}

/** The files of a working folder while a run holds it. */
export interface HeldFiles {
  /** Keeps the files as they are now as a version, and gives its id. */
  snapshot(): Promise<string>
  release(): void
}

/** The stream of one run. */
export interface ExternalRunLog {
  readonly agentId: string
  /** The state as it is known here. */
  readonly state: ExternalState
  /** Another driver has taken the run. */
  readonly lost: boolean
  /** Other processes may record something about the run. */
  readonly shared: boolean
  /** Brings the state up to the log. */
  look(): Promise<void>
  /** Records facts, in one append and in order: resolves when they are durable. Facts that are recorded change nothing. */
  append(facts: readonly (ExternalFact | Extract<ExternalCommand, { kind: 'cancel' }>)[]): Promise<void>
  /** Agent events from an index on, some or all; none: no more are recorded by now. */
  read(from: number): Promise<readonly AgentEventBody[]>
  /** Calls back with what was recorded here or learnt from the log. Returns how to stop. */
  listen(listener: (events: readonly SealedEvent[]) => void): () => void
}

/** Hides secrets in what is recorded. */
export interface Hiding {
  value<T extends Json>(value: T): T
  /** Filters the texts of an agent. A secret may span texts. */
  texts(): TextsFilter
}

/** Changes texts that are shown one by one. A filter may hold back the end of a text until the next text. */
export interface TextsFilter {
  /** The texts that are ready by now; the last one belongs to the given text and may be empty. */
  push(text: string): readonly string[]
  /** The texts that were held back. */
  end(): readonly string[]
}

export type { Outcome }
