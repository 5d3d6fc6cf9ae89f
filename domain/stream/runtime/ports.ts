import type { BlobIntents, BlobStore, Clock, EventLog, Random, RequestCache, SnapshotStore } from '../../ports/index.ts'
import type { Holds } from './erasure/types.ts'

/** The stores of a stream's events and of their large bodies. */
export interface Stores {
  readonly log: EventLog
  readonly blobs: BlobStore
}

/** The part of the stores that reading a history needs. */
export interface ReadStores {
  readonly log: Pick<EventLog, 'read' | 'erases'>
  readonly blobs: Pick<BlobStore, 'get'>
}

export interface StreamPorts extends Stores {
  /** Absent when the log cannot erase. */
  readonly intents?: BlobIntents
  readonly snapshots?: SnapshotStore
  /** Answers of models, which may contain erased text; absent: there is no cache. */
  readonly cache?: Pick<RequestCache, 'clear'>
  /** Tables as they were at past positions, which may contain erased text; absent: there are none. */
  readonly pastTables?: { clear(): Promise<void> }
  /** Legal holds; absent: nothing can be held. */
  readonly holds?: Holds
  readonly clock: Clock
  readonly random: Random
  /** Maximum time to retry saving an outcome, ms. */
  readonly outcomeLimitMs?: number
  /** Maximum time that a person's request waits for the log, ms. */
  readonly requestLimitMs?: number
  /** Warns the operator about a problem that does not stop the work. `id`: the id of the stream. */
  warn?(id: string, message: string): void
  /** Named points at which a fault test may end or pause the process. */
  crashPoint?(name: AppendPoint): void | Promise<void>
}

export type AppendPoint = 'before_append' | 'after_append' | 'after_blobs'
