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

/** The part of a stream, or of the log, to read. */
export interface ReadOptions {
  /** The first revision, inclusive. Default 0. */
  readonly from?: number
  /** At most this many events. Default: all. */
  readonly limit?: number
  /** False: bodies are null, which makes reading several times faster. Default true. */
  readonly bodies?: boolean
  /** Only these types are needed; events of other types may be omitted. Default: all types. */
  readonly types?: readonly string[]
  /**
   * Reads the stream from the whole log, so that tombstoned or truncated streams can be read, and reports damaged
   * events. May scan the whole log. Absent: reading a damaged stream rejects.
   */
  readonly onDamage?: OnDamage
}

/** Options for reading the whole log. */
export interface ReadAllOptions {
  readonly limit?: number
  readonly bodies?: boolean
  /** Reports damaged events. With this callback a page may be empty. Absent: damaged events are skipped. */
  readonly onDamage?: OnDamage
  /**
   * Also events of kinds that this program does not know, so that all programs read the same events. Absent: a log that
   * other programs write to may skip them.
   */
  readonly everyKind?: boolean
}

/** The append-only source of truth. Stream names exclude the namespace. Every rejection is a `LogError`. */
export interface EventLog {
  /** The log's id, from the first event of `log-meta`. */
  readonly logId: string
  /** Whether the log can erase a stored body. If not, appends of `erased` facts reject with `ERASE_IMPOSSIBLE`. */
  readonly erases: boolean
  /**
   * The minimum timestamp of the next event, in ms since the epoch. A sealer raises earlier times to it. 0: streams are
   * independent.
   */
  floor(): number
  /**
   * Appends sealed events after revision `expected` (-1: the stream does not exist), all or none. Resolves when they
   * are durable. Two calls in one tick for one stream are written in call order. `position` is the position of the last
   * event; reading returns the positions of the others. Resending the same batch after an unknown outcome is safe.
   * `CONFLICT`: another writer's event is at that revision. An `erased` fact in the batch names bodies of the stream;
   * the same append erases them. `limitMs`: how long the caller waits at most. A log with internal retries stops at
   * that limit with `LOG_UNAVAILABLE`. Absent: the log's default limit.
   */
  append(
    stream: string,
    expected: number,
    batch: readonly SealedEvent[],
    limitMs?: number,
  ): Promise<{ readonly position: number }>
  /** The head of a stream; null: the stream does not exist. */
  head(stream: string): Promise<Head | null>
  /** A stream's events in order, in pages. A missing stream yields nothing. */
  read(stream: string, options?: ReadOptions): AsyncIterable<readonly RecordedEvent[]>
  /**
   * All events after `after` (exclusive) in log order, in pages. Reads at least to the head at the time of the call.
   */
  readAll(after: Cursor | null, options?: ReadAllOptions): AsyncIterable<readonly RecordedEvent[]>
  /**
   * Like {@link readAll}, then continues with new events until the signal aborts. Never skips and never repeats an
   * event.
   */
  subscribe(
    after: Cursor | null,
    signal: AbortSignal,
    options?: Pick<ReadAllOptions, 'onDamage' | 'everyKind'>,
  ): AsyncIterable<readonly RecordedEvent[]>
  /** The cursor of an event that this log returned. */
  cursor(event: RecordedEvent): Cursor
  /** The cursor of the log's last event at the time of the call, or of a later event. */
  headCursor(): Promise<Cursor>
  /** Names of streams that begin with `prefix`, in order of creation, in pages. */
  streams(prefix: string): AsyncIterable<readonly string[]>
  close(): Promise<void>
}

/**
 * Content-addressed bytes outside the log. The address is the owner (a run, or a stream without a run) and the salted
 * body hash.
 */
export interface BlobStore {
  /** Resolves when the bytes are durable. Storing an address twice is safe. */
  put(owner: string, hash: string, bytes: Uint8Array): Promise<void>
  /** Rejects with `BLOB_MISSING`. */
  get(owner: string, hash: string): Promise<Uint8Array>
  /**
   * At most `length` bytes from offset `from`; fewer at the end. Rejects with the errors of `get`. Absent: reading a
   * part needs as much memory as reading the whole.
   */
  part?(owner: string, hash: string, from: number, length: number): Promise<Uint8Array>
  /** Hashes of all blobs of an owner. Empty: the owner has none. For erasure only. */
  list(owner: string): Promise<readonly string[]>
  /** For erasure only. */
  delete(owner: string, hash: string): Promise<void>
}

/** A blob that is being stored for an append to a stream, or removed because of one. */
export interface BlobIntent {
  readonly stream: string
  /** The owner: the run, or the stream if it belongs to no run. */
  readonly runId: string
  readonly hash: string
}

/**
 * Notes of blobs that are being stored or removed. They identify the blobs of a writer that crashed around its append.
 */
export interface BlobIntents {
  /** Resolves when the notes are durable. */
  begin(intents: readonly BlobIntent[]): Promise<void>
  end(intents: readonly BlobIntent[]): Promise<void>
  /** Intents that have begun and not ended. */
  left(): Promise<readonly BlobIntent[]>
}

/** The folded state after one event. */
export interface Snapshot {
  readonly revision: number
  readonly step: number
  /** Any JSON value. The reader checks it. */
  readonly state: unknown
}

/** A cache of folded states. It may lose entries at any time. The reader checks entries against the log. */
export interface SnapshotStore {
  /** The latest snapshot at or before the revision or step; null: none exists. `fold`: the version of the fold. */
  latest(stream: string, fold: number, upTo: { revision?: number; step?: number }): Promise<Snapshot | null>
  put(stream: string, fold: number, snapshot: Snapshot): Promise<void>
  /** Drops all snapshots after an erasure, because snapshots of forks contain inherited state. */
  clear(): Promise<void>
}

/**
 * Heartbeats outside the log that indicate when to claim. They are an optimisation; the epoch in the log is
 * authoritative.
 */
export interface Leases {
  /** Acquires or renews the lease of the agent for `ttlMs`. False: another driver has the lease. */
  acquire(agentId: string, driverId: string, ttlMs: number): Promise<boolean>
  release(agentId: string, driverId: string): Promise<void>
}
