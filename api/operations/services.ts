import type { AccessGate } from '../../domain/access/runtime/access-gate.ts'
import type { Keeping } from '../../domain/access/runtime/keeping.ts'
import type { AgentServices, ForkOptions } from '../../domain/agent/runtime/types.ts'
import type { SeenFile } from '../../domain/calls/question-hash.ts'
import type { DocumentGateway } from '../../domain/document/runtime/gateway.ts'
import type { Json } from '../../domain/log/json.ts'
import type { Memories } from '../../domain/memory/runtime/memories.ts'
import type {
  BlobStore,
  Clock,
  EventLog,
  FileChange,
  LoginWays,
  ModelRequest,
  Random,
  Vault,
} from '../../domain/ports/index.ts'
import type { LogWitness } from '../../domain/proof/runtime/log-witness.ts'
import type { ContextStores } from '../../domain/store/runtime/context-stores.ts'
import type { At } from '../../domain/stream/point.ts'
import type { Streams } from '../../domain/stream/runtime/streams.ts'
import type { AgentSpec } from '../../domain/tree/spec.ts'
import type { Drivers } from '../process/drives/drivers.ts'
import type { LiveHub } from '../process/live/hub.ts'
import type { AccessUses } from './access/uses.ts'
import type { Consumers } from './consumers/consumers.ts'
import type { KnownRoles } from './definitions/roles.ts'
import type { KnownTools } from './definitions/tools.ts'
import type { Finding } from './doctor/finding.ts'
import type { PresenceHub } from './document/presence.ts'
import type { Agents } from './external/agents.ts'
import type { FileBlame } from './files/schemas.ts'
import type { Losses } from './losses/losses.ts'
import type { AppendTimes } from './metrics/append-times.ts'
import type { KnownModels } from './models/known-models.ts'
import type { PlanPersistence } from './plan/plan-persistence.ts'
import type { ProofServices } from './proof/services.ts'
import type { ReadModel } from './read-model.ts'
import type { StartRun } from './runs/start-schemas.ts'
import type { SqlAuditor } from './sql/auditor.ts'
import type { Readiness } from './system/readiness.ts'
import type { TelemetrySending } from './telemetry/services.ts'
import type { Webhooks } from './webhooks/services.ts'

/** A point of an agent's history, for its files. */
export interface FilePoint {
  readonly agentId: string
  readonly at: At
}

/** The files to restore: those of a step (0: before the run) or of a tree. */
export interface RestoreRequest {
  readonly to: { readonly step: number } | { readonly tree: string }
  /** Only report the changes. */
  readonly dryRun: boolean
  /** Refuse if the files differ from this tree, which a dry run showed. */
  readonly expected?: string | undefined
  /** Called before the first write. If it rejects, no file changes. */
  readonly begins?: (intent: { readonly tree: string; readonly replaces: string }) => Promise<void>
}

export interface RestoredFiles {
  /** The version to restore. */
  readonly tree: string
  /** The version of the files before the restore. Restoring it undoes this restore. */
  readonly replaced: string
  /** The changes to the folder. `deleted`: files that the version does not have. */
  readonly changes: readonly FileChange[]
}

/** The folder of a fork. `folder` absent: a new folder next to the source's. */
export interface ForkFolder {
  readonly runId: string
  readonly folder?: string
  /** True: the request has an Idempotency-Key, and a repeat reuses the files of the first attempt. */
  readonly keyed: boolean
}

/** The folder of a fork, with the files of the fork point. */
export type ForkFiles = NonNullable<ForkOptions['workspace']>

/** The current state of a workspace file. */
export interface CurrentFile extends SeenFile {
  /** Null: the file is absent, unreadable, or not UTF-8. */
  readonly text: string | null
  /** In bytes; null: the file is absent or unreadable. */
  readonly size: number | null
  /** Why the file is unreadable. */
  readonly fault?: string
}

/** The most files that a preview of a command reads. Each file is read whole. */
export const MAX_NAMED_FILES = 16

/** A file that a command names. `path`: as the command names it; it may be a link. */
export interface NamedFile extends SeenFile {
  /** The real path, if it is another one. Null: the path leads out of the workspace or nowhere. Absent: the same. */
  readonly leadsTo?: string | null
}

export interface NamedFiles {
  readonly files: readonly NamedFile[]
  readonly more: boolean
}

/** The workspace's files at points of a history. */
export interface Files {
  /** Null: one of the points has no workspace. `patch` is truncated after `maxBytes`. */
  diff(
    a: FilePoint,
    b: FilePoint,
    maxBytes: number,
  ): Promise<{ readonly changes: readonly FileChange[]; readonly patch: string } | null>
  /** The calls that wrote each line of a file at a step. Null: the run has no versions of its files. */
  blame(agentId: string, step: number, path: string): Promise<FileBlame | null>
  /** The current file at a path. */
  current(agentId: string, path: string): Promise<CurrentFile>
  /** Why this process cannot write in a folder, as the code of the file system. Null: it can. */
  unwritable(folder: string): Promise<string | null>
  /**
   * The files and links among these names, which are relative to a folder of the workspace, and the names of missing
   * files; at most {@link MAX_NAMED_FILES}. `more`: there are others.
   */
  named(agentId: string, folder: string, names: readonly string[]): Promise<NamedFiles>
  /** Restores the files of a version. The replaced files become a version too. */
  restore(agentId: string, asked: RestoreRequest): Promise<RestoredFiles>
  /**
   * Writes the files of a point into the folder of a fork, then calls `record` with the folder (null: the source has no
   * workspace). A fork never uses the folder of its source. If `record` rejects, the folder stays as it was.
   */
  fork<T>(source: string, at: At, fork: ForkFolder, record: (files: ForkFiles | null) => Promise<T>): Promise<T>
  /** Drops the files that were kept for a repeat of the request, because the fork exists. */
  forkFound(runId: string): void
}

/** Resolves a start request into a complete spec. Rejects an unusable request before anything is recorded. */
export interface Starts {
  prepare(request: StartRun): Promise<AgentSpec>
}

/** A model request in the provider's wire form: the JSON body, and the headers that depend on the request. */
export interface Wire {
  readonly provider: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** A hint that an agent has a new event. Hints can be late, repeated or lost. */
export interface WorkNotification {
  readonly agentId: string
  /** True: a driver appended the event, so other processes need not look. */
  readonly byDriver: boolean
  /** Acknowledges the hint. Without the acknowledgement another worker gets the hint too. */
  done(): void
}

/** Delivers each hint to one of the listening workers. */
export interface WorkSubscription {
  /** Ends when the signal aborts. Calls `onTrouble` with the error when the subscription breaks, and with null when it works again. */
  notifications(signal: AbortSignal, onTrouble: (error: unknown) => void): AsyncIterable<WorkNotification>
}

/** The services of the entry points. The composition root makes them; the opener closes them. */
export interface Services {
  readonly runtime: AgentServices
  readonly log: EventLog
  /** Null: this host does not measure its appends. */
  readonly appendTimes: AppendTimes | null
  readonly losses: Losses
  readonly proof: ProofServices
  /** Cosigns heads of other logs. Null: this host does not. */
  readonly witness: LogWitness | null
  readonly webhooks: Webhooks
  readonly telemetry: TelemetrySending
  readonly consumers: Consumers
  readonly blobs: BlobStore
  readonly read: ReadModel
  readonly starts: Starts
  readonly files: Files
  readonly documents: DocumentGateway
  readonly memories: Memories
  readonly contexts: ContextStores
  /** Identifies principals. */
  readonly access: AccessGate
  readonly uses: AccessUses
  /** Retention and legal holds. */
  readonly keeping: Keeping
  /** Issuers that identify people and services. */
  readonly login: LoginWays
  /** The streams of any kind. */
  readonly streams: Streams
  readonly plans: PlanPersistence
  readonly live: LiveHub
  /** The people who edit documents at present. */
  readonly presence: PresenceHub
  readonly drivers: Drivers
  /** Runs of external agents. Null: this host has none. */
  readonly agents: Agents | null
  /** Questions in SQL. */
  readonly auditor: SqlAuditor
  readonly vault: Vault
  readonly clock: Clock
  readonly random: Random
  /** Writes a consistent copy of the data into a folder that does not exist yet. */
  backup(folder: string): Promise<{ readonly files: readonly string[]; readonly bytes: number }>
  /** Stored bytes of these runs, by run id. */
  sizes(runIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Checks of the machine and the data folder. Empty: this host knows neither. */
  machine(): Promise<readonly Finding[]>
  /** The available roles. */
  roles(): Promise<KnownRoles>
  /** The available tools. Connects to the configured MCP servers. */
  tools(): Promise<KnownTools>
  /** The available models, with their health in this process. Throws WIRE_UNKNOWN if the host has no information. */
  models(): KnownModels
  /** A model request in the provider's format. Null: the host cannot give it. */
  readonly wire: ((request: ModelRequest) => Wire) | null
  /** True: this process only reads; every command is refused. */
  readonly readOnly: boolean
  /** True: a recorded command also wakes its run (`serve`). */
  readonly autoDrive: boolean
  /** Null: no other process appends events. */
  readonly workSubscription: WorkSubscription | null
  /** The name of this process among several drivers. Null: it is the only one. */
  readonly holder: string | null
  /** Whether log and tables answer, within two seconds. */
  ready(): Promise<Readiness>
  close(): Promise<void>
}
