import type { BlobIntents, BlobStore, Clock, EventLog, Random, RequestCache, SnapshotStore } from '../../ports/index.ts'

/** Where a stream's events and their large bodies are read. */
export interface Stores {
  readonly log: EventLog
  readonly blobs: BlobStore
}

/** All that a stream of any kind needs of the world. */
export interface StreamPorts extends Stores {
  /** Absent where nothing can be erased. */
  readonly intents?: BlobIntents
  readonly snapshots?: SnapshotStore
  /** Answers of models, which may say what is erased; absent: none are kept. */
  readonly cache?: Pick<RequestCache, 'clear'>
  readonly clock: Clock
  readonly random: Random
  /** How long an outcome is saved again, at most, ms. */
  readonly outcomeLimitMs?: number
  /** How long a person's request waits for the log, at most, ms. */
  readonly requestLimitMs?: number
  /** Tells the person who runs this process what goes on less well than it should. `id`: that of the stream. */
  warn?(id: string, message: string): void
  /** Named points at which a fault test may end or hold the process. */
  crashPoint?(name: AppendPoint): void | Promise<void>
}

/** Boundaries around an append. */
export type AppendPoint = 'before_append' | 'after_append' | 'after_blobs'
