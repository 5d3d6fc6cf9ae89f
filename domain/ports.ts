// What domain asks of the world: types only. Adapters stand behind these; no adapter shapes them.
import type { Block, Message, Usage } from './agent/content.ts'
import type { ToolSpec } from './agent/tools.ts'
import type { Cursor } from './log/cursor.ts'
import type { RecordedEvent, SealedEvent } from './log/envelope.ts'
import type { Json, JsonObject } from './log/json.ts'

/** Milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The one source of randomness: salts, ids and jitter. */
export interface Random {
  bytes(length: number): Uint8Array
}

// ── The log ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The last event of a stream. */
export interface Head {
  readonly revision: number
  readonly hash: string
  /** Milliseconds since the epoch. */
  readonly timestamp: number
}

/** Names a body to empty in the same transaction as the `erased` fact that is being appended. */
export interface Erasure {
  readonly stream: string
  readonly revision: number
}

export interface ReadOptions {
  /** First revision, inclusive. Default 0. */
  readonly from?: number
  /** At most this many events. Default: all. */
  readonly limit?: number
  /** False: bodies are not read (null), which is several times faster. Default true. */
  readonly bodies?: boolean
}

/**
 * The append-only source of truth. Streams are named without the namespace. Every rejection is a `LogError`.
 */
export interface EventLog {
  /** The log's own id, from the first event of `log-meta`. */
  readonly logId: string
  /** No later event of this log may bear an earlier time (ms). A sealer clamps to it; 0 where streams are independent. */
  floor(): number
  /**
   * Appends sealed events after revision `expected` (-1: the stream does not exist), all or none. Resolves once they are
   * durable. The call enqueues synchronously: two calls in one tick are written in call order.
   * Resending the same batch after an unknown outcome is safe. `CONFLICT` means somebody else's event stands there.
   */
  append(
    stream: string,
    expected: number,
    batch: readonly SealedEvent[],
    erase?: readonly Erasure[],
  ): Promise<{ readonly position: number }>
  /** The head of a stream, or null where there is none. */
  head(stream: string): Promise<Head | null>
  /** A stream's events in order, in pages. A missing stream yields nothing. */
  read(stream: string, options?: ReadOptions): AsyncIterable<readonly RecordedEvent[]>
  /** All events after `after` (exclusive) in log order, up to the head at the time of the call, in pages. */
  readAll(after: Cursor | null, options?: { limit?: number; bodies?: boolean }): AsyncIterable<readonly RecordedEvent[]>
  /** Like {@link readAll}, then goes on with what is appended, until the signal aborts. Never skips, never repeats. */
  subscribe(after: Cursor | null, signal: AbortSignal): AsyncIterable<readonly RecordedEvent[]>
  /** The cursor of an event that this log gave out. */
  cursor(event: RecordedEvent): Cursor
  /** The cursor of the log's last event. */
  headCursor(): Promise<Cursor>
  /** Names of streams that begin with `prefix`, in order of birth, in pages. */
  streams(prefix: string): AsyncIterable<readonly string[]>
  close(): Promise<void>
}

/** Content-addressed bytes beside the log. The address is salted per run: `runId` and the salted body hash. */
export interface BlobStore {
  /** Durable when it resolves; the same address twice is fine. */
  put(runId: string, hash: string, bytes: Uint8Array): Promise<void>
  /** Rejects with `BLOB_MISSING`. */
  get(runId: string, hash: string): Promise<Uint8Array>
  /** For erasure only. */
  delete(runId: string, hash: string): Promise<void>
}

/** A folded state as it was after one event. */
export interface Snapshot {
  readonly revision: number
  readonly step: number
  readonly state: Json
}

/** A cache of folded states: may lose anything at any time, is checked against the log by its reader. */
export interface SnapshotStore {
  /** The latest one at or before the revision or step; null where there is none. `fold`: version of the fold. */
  latest(agentId: string, fold: number, upTo: { revision?: number; step?: number }): Promise<Snapshot | null>
  put(agentId: string, fold: number, snapshot: Snapshot): Promise<void>
}

/** Heartbeats outside the log that say when to claim. An optimisation: the epoch in the log is the truth. */
export interface Leases {
  /** True: this driver now holds (or renews) the lease of the agent for `ttlMs`. */
  acquire(agentId: string, driverId: string, ttlMs: number): Promise<boolean>
  release(agentId: string, driverId: string): Promise<void>
}

// ── Models ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** One model call, complete: the adapter turns it into its provider's wire form and adds nothing of its own. */
export interface ModelRequest {
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: JsonObject }[]
  /** `any`: a call is required; `{name}`: this one; `auto`: the model may answer in text. */
  readonly toolChoice: 'any' | 'auto' | { readonly name: string }
  readonly parallelCalls: boolean
  readonly maxOutputTokens: number
}

export type StopReason = 'tool_use' | 'end_turn' | 'max_tokens' | 'pause_turn' | 'refusal'

/** What the provider answered, before redaction. `content` keeps its blocks verbatim, in order. */
export interface ModelOutcome {
  readonly content: readonly Block[]
  readonly stopReason: StopReason
  readonly usage: Usage
  /** The model that the provider says has served it. */
  readonly servedBy: string
  readonly requestId?: string
}

/** A failed model attempt. Adapters throw nothing else (but the abort reason). */
export interface ModelFailure extends Error {
  readonly name: 'ModelError'
  /** e.g. RATE_LIMITED, OVERLOADED, NETWORK, TIMEOUT, AUTHENTICATION, NOT_FOUND, INVALID_REQUEST, INVALID_RESPONSE. */
  readonly code: string
  readonly transient: boolean
  readonly retryAfterMs?: number
}

export interface ModelProvider {
  /** e.g. `anthropic`, `openai`, `scripted`. */
  readonly id: string
  /** `onText` receives text as it streams; it is ephemeral and never stored. */
  call(request: ModelRequest, options: { signal: AbortSignal; onText?: (text: string) => void }): Promise<ModelOutcome>
}

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a tool gets to work with. */
export interface ToolContext {
  readonly runId: string
  readonly agentId: string
  readonly toolCallId: string
  readonly attempt: number
  readonly signal: AbortSignal
  readonly workspace: Workspace | null
  /** Runs commands as the run's policy says; null where commands cannot be had. */
  readonly sandbox: Sandbox | null
  /** Hides secrets in text that the tool is about to cut, lest the cut go through one. Absent: nothing to hide. */
  readonly redact?: (text: string) => string
  /** Receives a command's output as it streams; ephemeral, not redacted. */
  readonly onOutput?: (text: string) => void
}

/**
 * What a tool gives back. `content` is what the model sees: text, or JSON. `changed`: workspace paths that were written
 * or removed. `created`: the part of them that did not exist before. `detail`: facts for gates and audit.
 */
export interface ToolResult {
  readonly content: Json
  readonly changed?: readonly string[]
  readonly created?: readonly string[]
  readonly detail?: JsonObject
}

/** A failed attempt whose end was seen. Tools throw nothing else on purpose; anything else becomes EXECUTION_FAILED. */
export interface ToolFailure extends Error {
  readonly name: 'ToolError'
  readonly code: string
  readonly transient: boolean
  /** The failure provably came before any effect: an irreversible call may be retried. */
  readonly beforeEffect?: boolean
}

/** `happened` may carry the result; `unknown` leaves the doubt to a person. */
export type Probe =
  | { readonly found: 'happened'; readonly result?: ToolResult }
  | { readonly found: 'absent' | 'unknown' }

export interface Tool {
  readonly spec: ToolSpec
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>
  /** Reconcilable tools only: did the call happen? */
  probe?(args: JsonObject, context: ToolContext): Promise<Probe>
}

// ── The workspace ──────────────────────────────────────────────────────────────────────────────────────────────────

export interface DirEntry {
  readonly name: string
  readonly type: 'file' | 'dir' | 'symlink' | 'other'
  readonly size: number
}

/**
 * A folder that tools cannot leave. Paths are relative, `/`-separated; every method rejects with a ToolError
 * SANDBOX_VIOLATION for one that leads out (`..`, absolute, symlink), checked again after opening, and with
 * RESOURCE_NOT_FOUND, CONFLICT or EXECUTION_FAILED as it fits.
 */
export interface Workspace {
  readonly path: string
  /** The real path inside the workspace, relative; for a path that does not exist yet, through its nearest real parent. */
  resolve(path: string): Promise<string>
  read(path: string): Promise<Uint8Array>
  /** Atomic (rename) and durable. `created`: it did not exist before. */
  write(path: string, bytes: Uint8Array): Promise<{ created: boolean }>
  list(path: string): Promise<readonly DirEntry[]>
  exists(path: string): Promise<boolean>
  /** Files under `path` whose lines match, in path order; ignored files and binaries aside. */
  search(query: SearchQuery, signal: AbortSignal): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }>
  readonly versions: Versions
}

export interface SearchQuery {
  readonly pattern: string
  readonly regex: boolean
  readonly path: string
  readonly glob?: string
  readonly caseSensitive: boolean
  readonly limit: number
}

export interface SearchMatch {
  readonly path: string
  readonly line: number
  readonly text: string
}

export interface FileChange {
  readonly path: string
  readonly change: 'added' | 'modified' | 'deleted'
}

/** The workspace's shadow versions: trees of its files (ignored ones aside), kept in the data folder beside the log. */
export interface Versions {
  /** The id of the tree as it is now, stored durably. Cheap when little has changed. */
  snapshot(): Promise<string>
  changes(from: string, to: string): Promise<readonly FileChange[]>
  /** A unified diff, at most `maxBytes` of it. */
  diff(from: string, to: string, maxBytes: number): Promise<string>
  read(tree: string, path: string): Promise<Uint8Array | null>
  /** Puts the files of a tree back; what it replaces is kept as the tree it returns. */
  restore(tree: string): Promise<{ replaced: string }>
  /** Writes a tree's files into a new or empty folder. */
  materialize(tree: string, folder: string): Promise<void>
}

export interface Command {
  readonly argv: readonly string[]
  /** Relative to the workspace. */
  readonly cwd: string
  readonly timeoutMs: number
  readonly env?: Readonly<Record<string, string>>
  readonly network: boolean
}

export interface CommandResult {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  /** Well formed and bounded: head and tail where it was too long; the sizes are the originals, in bytes. */
  readonly stdout: string
  readonly stderr: string
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly durationMs: number
}

/** Runs a command in the workspace and ends its whole process group on abort, time limit, or the driver's death. */
export interface Sandbox {
  /** False: commands run unconfined (the run said `sandboxed: false`). */
  readonly confined: boolean
  /** Rejects with the signal's reason when aborted, with a ToolError where the command could not be started. */
  exec(command: Command, signal: AbortSignal, onOutput?: (text: string) => void): Promise<CommandResult>
}

// ── Secrets ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Known secret values. A reference is `secret:ku_` + 26 characters; see domain/agent/security.ts. */
export interface Vault {
  /** The value of a named secret, or null where neither the vault nor the environment has it. */
  get(name: string): Promise<string | null>
  set(name: string, value: string): Promise<void>
  names(): Promise<readonly string[]>
  /** The per-install key (32 bytes) of the references' HMAC. */
  referenceKey(): Promise<Uint8Array>
  /** Keeps what references stand for, durably: call it before the redacted text is appended. Known ones cost nothing. */
  remember(references: ReadonlyMap<string, string>): Promise<void>
  /** What a reference stands for, or null. Synchronous, because resolving is pure. */
  resolve(reference: string): string | null
}

/** Ephemeral news beside the log: streamed text, tool output. Losing it loses nothing. */
export interface LiveFeed {
  publish(news: { runId: string; agentId: string; turn: number; kind: 'text' | 'output'; text: string }): void
}
