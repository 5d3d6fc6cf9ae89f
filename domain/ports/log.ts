import type { Cursor } from '../log/cursor.ts'
import type { OnDamage } from '../log/damage.ts'
import type { RecordedEvent, SealedEvent } from '../log/envelope.ts'

/** The last event of a stream. */
export interface Head {
  readonly revision: number
  readonly hash: string
  /** Milliseconds since the epoch. */
  readonly timestamp: number
}

export interface ReadOptions {
  /** First revision, inclusive. Default 0. */
  readonly from?: number
  /** At most this many events. Default: all. */
  readonly limit?: number
  /** False: bodies are not read (null), which is several times faster. Default true. */
  readonly bodies?: boolean
  /** Events of other types are of no use, and may be left out. Default: all types. */
  readonly types?: readonly string[]
  /**
   * Reads the stream as the whole log gives it, also where it cannot be read by its name (a tombstone, a truncation), and is
   * told of its damaged events. It may look through the whole log. Absent: a stream with damage rejects.
   */
  readonly onDamage?: OnDamage
}

/** How the whole log is read. */
export interface ReadAllOptions {
  readonly limit?: number
  readonly bodies?: boolean
  /** Is told of damaged events. Absent: they are passed over. Where it is given, a page may be empty. */
  readonly onDamage?: OnDamage
}

/**
 * The append-only source of truth. Streams are named without the namespace. Every rejection is a `LogError`.
 */
export interface EventLog {
  /** The log's own id, from the first event of `log-meta`. */
  readonly logId: string
  /** Whether it can empty a stored body; one that cannot refuses `erased` facts with `ERASE_IMPOSSIBLE`. */
  readonly erases: boolean
  /** No later event of this log may bear an earlier time (ms). A sealer clamps to it; 0 where streams are independent. */
  floor(): number
  /**
   * Appends sealed events after revision `expected` (-1: the stream does not exist), all or none. Resolves once they are
   * durable. The call enqueues synchronously: two calls in one tick for one stream are written in call order.
   * `position` is that of the last event; positions of the others are told by reading.
   * Resending the same batch after an unknown outcome is safe. `CONFLICT` means that the event of another writer stands there.
   * The bodies of the stream that an `erased` fact of the batch names are emptied with it.
   * `limitMs`: how long the caller waits at most. A log that asks its server again by itself stops at that limit, with
   * `LOG_UNAVAILABLE`. Absent: the log has a limit of its own.
   */
  append(
    stream: string,
    expected: number,
    batch: readonly SealedEvent[],
    limitMs?: number,
  ): Promise<{ readonly position: number }>
  /** The head of a stream, or null where there is none. */
  head(stream: string): Promise<Head | null>
  /** A stream's events in order, in pages. A missing stream yields nothing. */
  read(stream: string, options?: ReadOptions): AsyncIterable<readonly RecordedEvent[]>
  /** All events after `after` (exclusive) in log order, in pages: at least up to the head at the time of the call. */
  readAll(after: Cursor | null, options?: ReadAllOptions): AsyncIterable<readonly RecordedEvent[]>
  /** Like {@link readAll}, then goes on with what is appended, until the signal aborts. Never skips, never repeats. */
  subscribe(
    after: Cursor | null,
    signal: AbortSignal,
    options?: Pick<ReadAllOptions, 'onDamage'>,
  ): AsyncIterable<readonly RecordedEvent[]>
  /** The cursor of an event that this log gave out. */
  cursor(event: RecordedEvent): Cursor
  /** The cursor of the log's last event, as it was at the time of the call or later. */
  headCursor(): Promise<Cursor>
  /** Names of streams that begin with `prefix`, in order of birth, in pages. */
  streams(prefix: string): AsyncIterable<readonly string[]>
  close(): Promise<void>
}

/** Content-addressed bytes beside the log. The address is the owner (a run, or a stream that belongs to
 * none) and the salted body hash. */
export interface BlobStore {
  /** Durable when it resolves; the same address twice is fine. */
  put(owner: string, hash: string, bytes: Uint8Array): Promise<void>
  /** Rejects with `BLOB_MISSING`. */
  get(owner: string, hash: string): Promise<Uint8Array>
  /**
   * At most `length` bytes from a place on, fewer at the end. Rejects as `get` does. Absent: a part costs as much memory as
   * the whole.
   */
  part?(owner: string, hash: string, from: number, length: number): Promise<Uint8Array>
  /** Hashes of all blobs of an owner; none where it has none. For erasure only. */
  list(owner: string): Promise<readonly string[]>
  /** For erasure only. */
  delete(owner: string, hash: string): Promise<void>
}

/** A blob that is being stored for an append to a stream, or goes because of one. */
export interface BlobIntent {
  readonly stream: string
  /** The owner: the run, or the stream where it belongs to none. */
  readonly runId: string
  readonly hash: string
}

/** Notes of blobs that are on their way in or out, so that those of a writer that died around its append are found. */
export interface BlobIntents {
  /** Durable when it resolves. */
  begin(intents: readonly BlobIntent[]): Promise<void>
  end(intents: readonly BlobIntent[]): Promise<void>
  /** The work that has begun and never ended. */
  left(): Promise<readonly BlobIntent[]>
}

/** A folded state as it was after one event. */
export interface Snapshot {
  readonly revision: number
  readonly step: number
  /** Any JSON value. The reader checks it. */
  readonly state: unknown
}

/** A cache of folded states: may lose anything at any time, is checked against the log by its reader. */
export interface SnapshotStore {
  /** The latest one at or before the revision or step; null where there is none. `fold`: version of the fold. */
  latest(stream: string, fold: number, upTo: { revision?: number; step?: number }): Promise<Snapshot | null>
  put(stream: string, fold: number, snapshot: Snapshot): Promise<void>
  /** Throws all away, because of an erasure: forks hold what they have inherited. */
  clear(): Promise<void>
}

/** Heartbeats outside the log that say when to claim. An optimisation: the epoch in the log is the truth. */
export interface Leases {
  /** True: this driver now holds (or renews) the lease of the agent for `ttlMs`. */
  acquire(agentId: string, driverId: string, ttlMs: number): Promise<boolean>
  release(agentId: string, driverId: string): Promise<void>
}
