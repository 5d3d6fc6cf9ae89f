import type { AgentSpec } from '../../domain/agent/definition/spec.ts'
import type { AgentServices, At, ForkOptions } from '../../domain/agent/runtime/types.ts'
import type { SeenFile } from '../../domain/calls/question.ts'
import type { DocumentGateway } from '../../domain/document/runtime/gateway.ts'
import type { Json } from '../../domain/log/json.ts'
import type { Memories } from '../../domain/memory/runtime/memories.ts'
import type { BlobStore, Clock, EventLog, FileChange, ModelRequest, Random, Vault } from '../../domain/ports/index.ts'
import type { ContextStores } from '../../domain/store/runtime/context-stores.ts'
import type { Drivers } from '../process/drives/drivers.ts'
import type { LiveHub } from '../process/live/hub.ts'
import type { KnownRoles } from './definitions/roles.ts'
import type { KnownTools } from './definitions/tools.ts'
import type { Agents } from './external/agents.ts'
import type { FileBlame } from './files/schemas.ts'
import type { Losses } from './losses/losses.ts'
import type { KnownModels } from './models/known-models.ts'
import type { PlanPersistence } from './plan/plan-persistence.ts'
import type { ReadModel } from './read-model.ts'
import type { StartRun } from './runs/start-schemas.ts'
import type { SqlAuditor } from './sql/auditor.ts'
import type { Readiness } from './system/readiness.ts'

/** A point of an agent's history whose files are asked for. */
export interface FilePoint {
  readonly agentId: string
  readonly at: At
}

/** Which files to put back, those of a step (0: before the run) or of a tree. */
export interface RestoreRequest {
  readonly to: { readonly step: number } | { readonly tree: string }
  /** Only look: no file is touched. */
  readonly dryRun: boolean
  /** Refuse where the files are not this tree any more, as a dry run showed them. */
  readonly expected?: string
  /** Awaited before the first file is touched; where it rejects none is. */
  readonly begins?: (intent: { readonly tree: string; readonly replaces: string }) => Promise<void>
}

export interface RestoredFiles {
  /** The version that is put back. */
  readonly tree: string
  /** The version that holds the files as they were before; restoring it undoes this. */
  readonly replaced: string
  /** The changes that putting it back makes to the folder. `deleted`: files that the version does not know. */
  readonly changes: readonly FileChange[]
}

/** Where a fork is to work. `folder` absent: a new one beside that of its source. */
export interface ForkFolder {
  readonly runId: string
  readonly folder?: string
  /** A request with a key can be repeated, and then finds the files of its first attempt. */
  readonly keyed: boolean
}

/** Where a fork works, with the files of its point in it. */
export type ForkFiles = NonNullable<ForkOptions['workspace']>

/** A file of a workspace as it is now. */
export interface CurrentFile extends SeenFile {
  /** Null: the file is absent, unreadable, or not UTF-8. */
  readonly text: string | null
  /** In bytes; null: the file is absent or unreadable. */
  readonly size: number | null
  /** Why the file is unreadable. */
  readonly fault?: string
}

/** A command that names more files is shown with the first ones. Each of them is read as a whole. */
export const MAX_NAMED_FILES = 16

export interface NamedFiles {
  readonly files: readonly SeenFile[]
  readonly more: boolean
}

/** The workspace's files at points of a history. */
export interface Files {
  /** Null where one of the points has no workspace. `patch` is cut after `maxBytes`. */
  diff(
    a: FilePoint,
    b: FilePoint,
    maxBytes: number,
  ): Promise<{ readonly changes: readonly FileChange[]; readonly patch: string } | null>
  /** Which calls wrote the lines of a file, as it is at a step; null: the run has no versions of its files. */
  blame(agentId: string, step: number, path: string): Promise<FileBlame | null>
  /** The file to which a path leads now. */
  current(agentId: string, path: string): Promise<CurrentFile>
  /**
   * The regular files among these names, which are relative to a folder of the workspace; at most {@link MAX_NAMED_FILES}.
   * `more`: there are others.
   */
  named(agentId: string, folder: string, names: readonly string[]): Promise<NamedFiles>
  /** Puts the files of a version back; what they replace is kept as a version of its own. */
  restore(agentId: string, asked: RestoreRequest): Promise<RestoredFiles>
  /**
   * Puts the files of a point into the folder of a fork, and has the fork recorded with them; null where its source has no
   * workspace. A fork never works in the folder of its source. Where nothing was recorded the folder is left as it was.
   */
  fork<T>(source: string, at: At, fork: ForkFolder, record: (files: ForkFiles | null) => Promise<T>): Promise<T>
  /** A repeated request has found its fork made: what was kept for a repeat is not needed any more. */
  forkFound(runId: string): void
}

/** Turns a request into everything in force, resolved; refuses what cannot work, before anything is recorded. */
export interface Starts {
  prepare(request: StartRun): Promise<AgentSpec>
}

/** A model request as its provider gets it: the JSON body, and the headers that belong to what is asked. */
export interface Wire {
  readonly provider: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** Says that something was recorded about an agent: a hint to look at it, which may come late, twice or never. */
export interface WorkNotification {
  readonly agentId: string
  /** A driver wrote it: no other process needs to look. */
  readonly byDriver: boolean
  /** Until it is called another worker may be notified too. */
  done(): void
}

/** Wakes one of the workers that listen. */
export interface WorkSubscription {
  /** Goes on until the signal aborts. `onTrouble` hears why nothing can be heard just now, and null when it can. */
  notifications(signal: AbortSignal, onTrouble: (error: unknown) => void): AsyncIterable<WorkNotification>
}

/** Everything that the entry points need, already composed. Made by the composition root, closed by its opener. */
export interface Services {
  readonly runtime: AgentServices
  readonly log: EventLog
  readonly losses: Losses
  readonly blobs: BlobStore
  readonly read: ReadModel
  readonly starts: Starts
  readonly files: Files
  readonly documents: DocumentGateway
  readonly memories: Memories
  readonly contexts: ContextStores
  readonly plans: PlanPersistence
  readonly live: LiveHub
  readonly drivers: Drivers
  /** Runs of other agents; null: this host has none. */
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
  /** The roles that a run may ask for. */
  roles(): Promise<KnownRoles>
  /** The tools that runs may be given; connects to the configured MCP servers. */
  tools(): Promise<KnownTools>
  /** The models that runs may have, with their health in this process. Throws WIRE_UNKNOWN where the host cannot tell. */
  models(): KnownModels
  /** A model request as its provider gets it; null: the host cannot tell. */
  readonly wire: ((request: ModelRequest) => Wire) | null
  /** True: this process only reads; every command is refused. */
  readonly readOnly: boolean
  /** True: a recorded command also wakes its run (`serve`). */
  readonly autoDrive: boolean
  /** Null: no other process records, so there is nothing to hear. */
  readonly workSubscription: WorkSubscription | null
  /** Names this process among several that drive; null: it is alone. */
  readonly holder: string | null
  /** Whether log and tables answer, within two seconds. */
  ready(): Promise<Readiness>
  close(): Promise<void>
}
