import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { AlteredRow, Database, FoundText, PlaceOfAgent, RunFilter } from '../../projections/index.ts'
import type { Approval, ArtifactView, Ask } from './approvals/schemas.ts'
import type { CallDecision } from './decisions/schemas.ts'
import type { EventFilter } from './events/filter.ts'
import type { CheckpointEntry, CheckpointList, CheckpointView } from './history/checkpoint-schemas.ts'
import type { MessageView } from './messages/schemas.ts'
import type { CauseCost, Cost, CostBy } from './numbers/cost-schemas.ts'
import type { Numbers } from './numbers/schemas.ts'
import type * as schemas from './runs/schemas.ts'
import type { Parked, ProjectionsStatus } from './system/schemas.ts'

// The queries that the API needs from the projections: types only. The composition root fits the real queries to these.

/** An answer and the log position (opaque cursor text, or null before the first event) up to which it was computed. */
export interface Shown<T> {
  readonly position: string | null
  readonly value: T
}

/** A run as the tables have it, without its disk usage and driver. */
export type RunRow = Omit<z.infer<typeof schemas.Run>, 'bytes' | 'driving' | 'interrupted' | 'shortened'>
export type AgentRow = z.infer<typeof schemas.AgentNode>
export type TreeRow = Omit<schemas.RunTree, 'position' | 'runId'>
/** A call that asks a person, or has asked. */
export type ApprovalRow = z.infer<typeof Approval>
export type AskRow = z.infer<typeof Ask>
export type ArtifactRow = z.infer<typeof ArtifactView>
/** A checkpoint's place. */
export type CheckpointRow = z.infer<typeof CheckpointEntry>
/** The seed's whole checkpoint (5.5), with its place. */
export type WholeCheckpoint = z.infer<typeof CheckpointView>
/** A stream that stopped at an event which the projector cannot project. */
export type ParkedRow = z.infer<typeof Parked>
export type ProjectionStatus = z.infer<typeof ProjectionsStatus>

export interface Page {
  /** The `next` cursor of the previous page. */
  readonly after?: string
  readonly limit: number
}

/** The questions that the tables answer. Each answer has the position of the log that it shows. */
export interface ReadModel {
  /** The answer of any query on the tables. `query` must await nothing else. */
  rows<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Shown<T>>
  /** Like {@link rows}, but `query` may await anything and delays no other answer. `query` may be called again. */
  rowsApart<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<T>
  /**
   * Resolves when the tables contain everything that the log contained at the call (read your own writes). Rejects
   * after `withinMs` (30 s).
   */
  caughtUp(withinMs?: number): Promise<void>
  /** Like {@link caughtUp}. False: the disk is full, so the tables show an older state. */
  current(): Promise<boolean>
  /** Resolves when the database answers a trivial query. Does not wait for the projector. */
  answers(): Promise<void>
  /** Newest first. With a text filter, a page may be empty and still have a next one. */
  runs(page: Page & RunFilter): Promise<
    Shown<{
      runs: readonly RunRow[]
      next: string | null
      /** With a text filter: the newest text of an event of each run that contains it, by run id. */
      matches: ReadonlyMap<string, FoundText>
    }>
  >
  /**
   * `cancelling`: a cancel was requested. `asked`: any driver may drive the run. `restoring`: the unfinished restore.
   * `sessionId`: of an external agent; null: not known. `continuedBy`: the runs that continue its session.
   * `isContinued`: one of them works or has named the session. `isRequestErased`: its first input was erased.
   */
  run(runId: string): Promise<
    Shown<{
      run: RunRow
      tree: readonly AgentRow[]
      cancelling: boolean
      asked: boolean
      restoring: schemas.RunDetail['restoring']
      sessionId: string | null
      continuedBy: readonly string[]
      isContinued: boolean
      isRequestErased: boolean
    } | null>
  >
  /** The agents of a run, each followed by its children. Null: the run does not exist. */
  tree(runId: string): Promise<Shown<TreeRow | null>>
  /** The agents of a run at a position of the log, without agents born later. */
  placesAt(runId: string, position: number): Promise<readonly PlaceOfAgent[]>
  /** The last projected revision of each agent of a run, the root first. */
  heads(runId: string): Promise<Shown<ReadonlyMap<string, number>>>
  /** Approvals in the order of their requests. */
  approvals(
    query: Page & { runId?: string; state?: string },
  ): Promise<Shown<{ approvals: readonly ApprovalRow[]; next: string | null }>>
  /** How the calls of a run were decided, in the order of the log. */
  decisions(
    query: Page & { readonly runId: string; readonly toolCallId?: string },
  ): Promise<Shown<{ decisions: readonly CallDecision[]; next: string | null }>>
  /** The open approvals, questions and unknown outcomes of a run. */
  asks(query: { runId: string }): Promise<Shown<readonly AskRow[]>>
  /** Calls with an unknown outcome, of all runs or of one. */
  doubts(query: { runId?: string }): Promise<Shown<readonly AskRow[]>>
  /** Unanswered questions of agents, of all runs or of one. */
  questions(query: { runId?: string }): Promise<Shown<readonly AskRow[]>>
  approval(toolCallId: string): Promise<Shown<ApprovalRow | null>>
  /** Artifacts in the order of their registration. */
  artifacts(
    query: Page & { runId?: string },
  ): Promise<Shown<{ artifacts: readonly ArtifactRow[]; next: string | null }>>
  /**
   * The revisions at which failed calls of an agent ended, from `from` and below `to`. A command that ended with an exit
   * code other than 0 counts as failed.
   */
  failedCallEnds(query: {
    readonly agentId: string
    readonly from: number
    readonly to: number
  }): Promise<Shown<number[]>>
  /** Messages of a run in the order of the log. */
  messages(
    query: Page & { readonly runId: string },
  ): Promise<Shown<{ messages: readonly MessageView[]; next: string | null }>>
  /** The cost of model calls that ended at or after `since` (ISO 8601), grouped by `by`. `runId` absent: of all runs. */
  cost(query: {
    by: CostBy
    since?: string
    runId?: string
  }): Promise<Shown<Pick<z.infer<typeof Cost>, 'rows' | 'total'>>>
  /** The cost of model calls by cause, for runs that began at or after `since` (ISO 8601). `runId` absent: of all runs. */
  costByCause(query: { since?: string; runId?: string }): Promise<Shown<CauseCost['rows']>>
  /** Calls, times, decisions and budgets since `since` (ISO 8601). `runId` absent: of all runs. */
  numbers(query: { since?: string; runId?: string }): Promise<Shown<Omit<Numbers, 'position'>>>
  /** Streams in the order of their names, after the name `after`. */
  streams(query: {
    after?: string
    prefix?: string
    limit: number
  }): Promise<Shown<readonly { stream: string; runId: string; revision: number }[]>>
  /** The stored rows of a stream that differ from the fold of its events. Verify the stream first. */
  altered(stream: string): Promise<readonly AlteredRow[]>
  /** Stored rows without a stream, a few of each table. */
  strays(): Promise<readonly AlteredRow[]>
  /** Checkpoints in the order of their steps. `whole`: with every member of {@link checkpoint}. */
  checkpoints(
    agentId: string,
    page: Page & { readonly whole?: boolean },
  ): Promise<Shown<Omit<z.infer<typeof CheckpointList>, 'position'>>>
  /** The seed's whole checkpoint, with its place. */
  checkpoint(agentId: string, step: number): Promise<Shown<WholeCheckpoint | null>>
  /**
   * Events of a run that match a filter, in the order of the log. `more`: further events follow. Null: the run does not
   * have the agent.
   */
  events(
    query: Page & Omit<EventFilter, 'run'> & { readonly runId: string },
  ): Promise<{ readonly events: readonly RecordedEvent[]; readonly more: boolean } | null>
  /** Agents with a wake time of at most `before` (ms). `asked`: only agents that any driver may drive. */
  due(
    before: number,
    which?: { readonly asked: boolean },
  ): Promise<readonly { agentId: string; runId: string; wakeAt: number; reason: string }[]>
  /** The earliest wake time after `after` (ms), or null. */
  nextDue(after: number, which?: { readonly asked: boolean }): Promise<number | null>
  status(): Promise<ProjectionStatus>
  /** The parked streams, of all runs or of one. */
  parked(runId?: string): Promise<readonly ParkedRow[]>
  /**
   * Builds new tables from the log and compares them with the live tables. Switches to the new tables if they are equal, or if
   * `accept` is true. `equal` null: no live tables existed. `switched`: the new tables are live.
   */
  rebuild(how?: {
    readonly accept?: boolean
  }): Promise<{ events: number; equal: boolean | null; switched: boolean; differences: readonly string[] }>
  /** Reads a parked stream again. True: it is no longer parked. */
  release(stream: string): Promise<boolean>
}
