import type { Artifact } from '../domain/agent/events.ts'
import type { RecordedEvent } from '../domain/log/envelope.ts'
import type { Json } from '../domain/log/json.ts'

// What the API asks of the projections: types only. The composition root fits the real queries to these.

/** An answer and the log position (opaque cursor text, or null before the first event) up to which it was computed. */
export interface Shown<T> {
  readonly position: string | null
  readonly value: T
}

/** Own use of one agent, or the sum over a tree. Tokens; money in nano-dollars. */
export interface Bill {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  /** Null: at least one call had no known price. */
  readonly nanoDollars: number | null
  readonly modelCalls: number
  readonly toolCalls: number
}

/** Why an agent does not go on by itself. */
export interface Waiting {
  readonly for: 'input' | 'approval' | 'doubt' | 'pause'
  readonly toolCallIds: readonly string[]
}

export interface RunRow {
  readonly runId: string
  /** completed | failed | recovering | active (CONTRACTS 1). */
  readonly status: string
  readonly role: string | null
  readonly phase: string | null
  readonly model: string | null
  readonly task: string | null
  readonly turn: number
  readonly step: number
  readonly revision: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly summary: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly unmetGates: readonly string[]
  readonly waiting: Waiting | null
  readonly own: Bill
  readonly total: Bill
  readonly source: { readonly agentId: string; readonly step: number } | null
  /** Something of this run could not be read; the figures may be too low. */
  readonly incomplete: boolean
}

export interface AgentRow {
  readonly agentId: string
  readonly parentId: string | null
  readonly depth: number
  readonly role: string | null
  readonly status: string
  readonly turn: number
  readonly step: number
  readonly own: Bill
  readonly total: Bill
}

export interface ApprovalRow {
  readonly toolCallId: string
  readonly runId: string
  readonly agentId: string
  readonly toolName: string
  readonly argumentsHash: string
  readonly arguments: unknown
  readonly reason: string
  readonly requestedAt: string
  readonly expiresAt: string
  /** pending | approved | rejected | expired */
  readonly state: string
  readonly by: string | null
}

export interface ArtifactRow {
  readonly artifact: Artifact
  readonly runId: string
  readonly agentId: string
  readonly registeredWith: string | null
  readonly checkpointId: string | null
  readonly createdAt: string
}

/** A checkpoint in the list; the whole one (seed 5.5) comes from {@link ReadModel.checkpoint}. */
export interface CheckpointRow {
  readonly id: string
  readonly threadId: string
  readonly step: number
  readonly revision: number
  readonly turn: number
  readonly timestamp: string
}

export interface ProjectionStatus {
  /** Cursor text of what the tables show, null before the first event. */
  readonly position: string | null
  /** Cursor text of the log's head. */
  readonly head: string | null
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
  readonly parked: readonly { readonly stream: string; readonly revision: number; readonly error: string }[]
}

export interface Page {
  /** What the page before gave as `next`. */
  readonly after?: string
  readonly limit: number
}

export interface ReadModel {
  /** Resolves when the tables show everything that the log held at the call (read your own writes). */
  caughtUp(): Promise<void>
  /** Newest first. */
  runs(page: Page & { status?: string }): Promise<Shown<{ runs: readonly RunRow[]; next: string | null }>>
  run(runId: string): Promise<Shown<{ run: RunRow; tree: readonly AgentRow[] } | null>>
  approvals(query: { runId?: string; state?: string }): Promise<Shown<readonly ApprovalRow[]>>
  approval(toolCallId: string): Promise<Shown<ApprovalRow | null>>
  artifacts(
    query: Page & { runId?: string },
  ): Promise<Shown<{ artifacts: readonly ArtifactRow[]; next: string | null }>>
  checkpoints(
    agentId: string,
    page: Page,
  ): Promise<Shown<{ checkpoints: readonly CheckpointRow[]; next: string | null }>>
  /** The seed's whole checkpoint, as JSON. */
  checkpoint(agentId: string, step: number): Promise<Shown<Json | null>>
  /** Events of a run's agents, or of one of them, after a position of the log, in its order. Null: no such agent. */
  events(query: {
    runId: string
    agentId?: string
    after: number
    limit: number
  }): Promise<readonly RecordedEvent[] | null>
  /** Agents to wake no later than `before` (ms). */
  due(before: number): Promise<readonly { agentId: string; wakeAt: number; reason: string }[]>
  /** The earliest wake-up after `after` (ms), or null. */
  nextDue(after: number): Promise<number | null>
  status(): Promise<ProjectionStatus>
  /** Builds the tables anew beside the live ones, compares, switches. `equal` false: the difference is told. */
  rebuild(): Promise<{ events: number; equal: boolean; differences: readonly string[] }>
  /** Reads a parked stream again. */
  release(stream: string): Promise<void>
}
