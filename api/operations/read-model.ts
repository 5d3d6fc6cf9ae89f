import type { z } from 'zod'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { MemoryScope, Place } from '../../domain/memory/fact.ts'
import type { AlteredRow, PlaceOfAgent, RunFilter } from '../../projections/index.ts'
import type { Approval, ArtifactView, Ask } from './approvals/schemas.ts'
import type { DocumentSummary } from './document/schemas.ts'
import type { EventFilter } from './events/filter.ts'
import type { Checkpoint, CheckpointEntry, CheckpointList } from './history/checkpoint-schemas.ts'
import type { Memory } from './memory/schemas.ts'
import type { MessageView } from './messages/schemas.ts'
import type { Cost, CostBy } from './numbers/cost-schemas.ts'
import type { Numbers } from './numbers/schemas.ts'
import type * as schemas from './runs/schemas.ts'
import type { StoredVariable, StoreSummary } from './store/schemas.ts'
import type { Parked, Projections } from './system/schemas.ts'

// The queries that the API needs from the projections: types only. The composition root fits the real queries to these.

/** An answer and the log position (opaque cursor text, or null before the first event) up to which it was computed. */
export interface Shown<T> {
  readonly position: string | null
  readonly value: T
}

export type Bill = z.infer<typeof schemas.Bill>
export type Waiting = z.infer<typeof schemas.Waiting>
/** A run as the tables know it; what it takes on disk and whether it is driven is known elsewhere. */
export type RunRow = Omit<z.infer<typeof schemas.Run>, 'bytes' | 'driving' | 'interrupted' | 'shortened'>
export type AgentRow = z.infer<typeof schemas.AgentNode>
export type TreeRow = Omit<z.infer<typeof schemas.RunTree>, 'position' | 'runId'>
export type ApprovalRow = z.infer<typeof Approval>
export type AskRow = z.infer<typeof Ask>
export type DocumentRow = DocumentSummary
export type ArtifactRow = z.infer<typeof ArtifactView>
/** A checkpoint's place. */
export type CheckpointRow = z.infer<typeof CheckpointEntry>
/** The seed's whole checkpoint (5.5), with its place. */
export type WholeCheckpoint = z.infer<typeof Checkpoint>
/** A stream at an event that the tables cannot take. */
export type ParkedRow = z.infer<typeof Parked>
export type ProjectionStatus = z.infer<typeof Projections>

export interface Page {
  /** A cursor: what the page before gave as `next`. */
  readonly after?: string
  readonly limit: number
}

export interface ReadModel {
  /**
   * Resolves when the tables show everything that the log held at the call (read your own writes). Rejects where they do
   * not within `withinMs` (30 s).
   */
  caughtUp(withinMs?: number): Promise<void>
  /** The same, but false where the tables find no room to be brought up: what they show is older, and still true. */
  current(): Promise<boolean>
  /** Resolves when the tables, and what they need, have answered at once, whatever they show. */
  answers(): Promise<void>
  /** Newest first. A page that looks for a text may be empty and have a next one. */
  runs(page: Page & RunFilter): Promise<Shown<{ runs: readonly RunRow[]; next: string | null }>>
  /** `cancelling`: its end was requested. `asked`: it was started for any driver. `restoring`: a restore that has not ended. */
  run(runId: string): Promise<
    Shown<{
      run: RunRow
      tree: readonly AgentRow[]
      cancelling: boolean
      asked: boolean
      restoring: schemas.RunDetail['restoring']
    } | null>
  >
  /** The agents of a run, each followed by those below it; null: there is no such run. */
  tree(runId: string): Promise<Shown<TreeRow | null>>
  /** Where the agents of a run stood when the log had a position; without those that were not born by then. */
  placesAt(runId: string, position: number): Promise<readonly PlaceOfAgent[]>
  /** The last revision that the tables have seen of each of a run's agents, the root first. */
  heads(runId: string): Promise<Shown<ReadonlyMap<string, number>>>
  /** In the order in which they were asked for. */
  approvals(
    query: Page & { runId?: string; state?: string },
  ): Promise<Shown<{ approvals: readonly ApprovalRow[]; next: string | null }>>
  /** Everything that a run asks people. */
  asks(query: { runId: string }): Promise<Shown<readonly AskRow[]>>
  /** Calls, of all runs or of one, whose outcome is unknown. */
  doubts(query: { runId?: string }): Promise<Shown<readonly AskRow[]>>
  /** Questions of agents, of all runs or of one, without an answer. */
  questions(query: { runId?: string }): Promise<Shown<readonly AskRow[]>>
  approval(toolCallId: string): Promise<Shown<ApprovalRow | null>>
  /** In the order in which they were registered. */
  artifacts(
    query: Page & { runId?: string },
  ): Promise<Shown<{ artifacts: readonly ArtifactRow[]; next: string | null }>>
  /** In the order of their creation. */
  documents(page: Page): Promise<Shown<{ documents: readonly DocumentRow[]; next: string | null }>>
  /** Messages of a run in the order of the log. */
  messages(
    query: Page & { readonly runId: string },
  ): Promise<Shown<{ messages: readonly MessageView[]; next: string | null }>>
  /** The latest first. */
  memories(
    query: Page & { scope?: MemoryScope; place?: string; runId?: string; forgotten?: boolean },
  ): Promise<Shown<{ memories: readonly Memory[]; next: string | null }>>
  /** Those that a query finds, the best first; `places` null: in every place. */
  foundMemories(places: readonly Place[] | null, query: string, limit: number): Promise<Shown<readonly Memory[]>>
  memory(id: string): Promise<Shown<Memory | null>>
  /** How many facts of a place can be found. */
  countedMemories(place: Place): Promise<number>
  /** In the order of their names, after one of them. */
  contextStores(query: { after?: string | undefined; limit: number }): Promise<Shown<readonly StoreSummary[]>>
  /** A store with variables in the order of their keys; null: there is none. */
  contextStore(
    store: string,
    query: {
      prefix?: string | undefined
      deleted?: boolean | undefined
      after?: string | undefined
      limit: number
    },
  ): Promise<Shown<{ store: StoreSummary; variables: readonly StoredVariable[] } | null>>
  /** Also one that is deleted; null: it was never set. */
  storedVariable(store: string, key: string): Promise<Shown<StoredVariable | null>>
  /** The cost of model calls, by a criterion; of all runs or of one, those that ended at or after `since` (ISO 8601). */
  cost(query: {
    by: CostBy
    since?: string
    runId?: string
  }): Promise<Shown<Pick<z.infer<typeof Cost>, 'rows' | 'total'>>>
  /** Calls, times, decisions and budgets; of all runs or of one, those that ended at or after `since` (ISO 8601). */
  numbers(query: { since?: string; runId?: string }): Promise<Shown<Omit<Numbers, 'position'>>>
  /** Streams in order of their names, after one of them. */
  streams(query: {
    after?: string
    prefix?: string
    limit: number
  }): Promise<Shown<readonly { stream: string; runId: string; revision: number }[]>>
  /** The stored rows of a stream that differ from the rows which its events give. Check the stream itself first. */
  altered(stream: string): Promise<readonly AlteredRow[]>
  /** Stored rows of streams that the tables do not know, a few of each table. */
  strays(): Promise<readonly AlteredRow[]>
  /** In order of their steps; `whole`: with all that {@link checkpoint} gives. */
  checkpoints(
    agentId: string,
    page: Page & { readonly whole?: boolean },
  ): Promise<Shown<Omit<z.infer<typeof CheckpointList>, 'position'>>>
  /** The seed's whole checkpoint, with its place. */
  checkpoint(agentId: string, step: number): Promise<Shown<WholeCheckpoint | null>>
  /**
   * Events of a run that a filter wants, in the order of the log. `more`: others follow them. Null: the run has no such agent.
   */
  events(
    query: Page & Omit<EventFilter, 'run'> & { readonly runId: string },
  ): Promise<{ readonly events: readonly RecordedEvent[]; readonly more: boolean } | null>
  /** Agents to wake no later than `before` (ms). `asked`: only those that were started for any driver. */
  due(
    before: number,
    which?: { readonly asked: boolean },
  ): Promise<readonly { agentId: string; runId: string; wakeAt: number; reason: string }[]>
  /** The earliest wake-up after `after` (ms) of those that {@link due} would tell, or null. */
  nextDue(after: number, which?: { readonly asked: boolean }): Promise<number | null>
  status(): Promise<ProjectionStatus>
  /** Streams, of all runs or of one, that stopped at an event that the tables cannot take. */
  parked(runId?: string): Promise<readonly ParkedRow[]>
  /**
   * Builds the tables anew beside the live ones, compares, and switches where they are equal, or where `accept` says that
   * a difference is wanted. `equal` false: the difference is told; null: there was nothing to compare with. `switched`: the
   * new ones are the live ones now.
   */
  rebuild(how?: {
    readonly accept?: boolean
  }): Promise<{ events: number; equal: boolean | null; switched: boolean; differences: readonly string[] }>
  /** Reads a parked stream again. True: it is no longer parked. */
  release(stream: string): Promise<boolean>
}
