import type { Kysely } from 'kysely'
import { type Cursor, formatCursor } from '../../domain/log/cursor.ts'
import type { Json } from '../../domain/log/json.ts'
import type { EventLog } from '../../domain/ports.ts'
import {
  type Answer,
  agentHeads,
  argumentsOf,
  assembleCheckpoint,
  type CheckpointSources,
  checkpointFacts,
  costBy,
  type Database,
  dueBefore,
  eventStarts,
  eventsAfter,
  findCheckpoint,
  listApprovals,
  listArtifacts,
  listCheckpoints,
  listDoubts,
  listParked,
  listQuestions,
  listRuns,
  nextDue,
  type OpenCall,
  type RebuildReport,
  type RunStatus,
  showRun,
} from '../../projections/index.ts'
import { noRoom } from '../no-room.ts'
import type { AskRow, ReadModel, Shown } from '../read-model.ts'
import {
  agentRows,
  approvalAsk,
  approvalRow,
  artifactRow,
  askRow,
  costRow,
  parkedRow,
  rebuildRow,
  runRow,
} from './rows.ts'

/** Where answers come from: the parts of `Projections` that questions need, whoever moves the tables. */
export interface Tables {
  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>>
  /** Resolves when all that is behind answers can be used, at once; where absent a {@link read} says so. */
  answers?(): Promise<void>
  /** Resolves when answers show the event of this cursor; rejects when the signal says so. */
  caughtUpTo(cursor: Cursor, signal: AbortSignal): Promise<void>
  rebuild(how: { readonly accept: boolean }): Promise<RebuildReport>
  /** True: it is no longer parked. */
  release(agentId: string): Promise<boolean>
}

/** The API's questions, answered by the projections. */
export function readModelOf(tables: Tables, log: EventLog, sources: CheckpointSources): ReadModel {
  const ask = async <T, U>(
    query: (db: Kysely<Database>) => Promise<T>,
    then: (data: T) => U | Promise<U>,
  ): Promise<Shown<U>> => {
    const { position, data } = await tables.read(query)
    return { position: position && formatCursor(position), value: await then(data) }
  }
  const approvals = async (found: Awaited<ReturnType<typeof listApprovals>>) =>
    Promise.all(
      found.map(async (row) =>
        approvalRow(row, await argumentsOf(sources, row.agent_id, row.call_requested_revision, row.block)),
      ),
    )
  const asked = (why: AskRow['for'], calls: readonly OpenCall[]): Promise<AskRow[]> =>
    Promise.all(
      calls.map(async (call) =>
        askRow(why, call, await argumentsOf(sources, call.agent_id, call.requested_revision, call.block)),
      ),
    )
  const caughtUp = async (withinMs = 30_000) => {
    await tables.caughtUpTo(await log.headCursor(), AbortSignal.timeout(withinMs))
  }
  return {
    caughtUp,
    async current() {
      try {
        await caughtUp()
        return true
      } catch (error) {
        if (noRoom(error) === null) throw error
        return false
      }
    },
    async answers() {
      await (tables.answers?.() ?? tables.read(async () => null))
    },
    runs: ({ after, limit, status, prefix }) =>
      ask(
        (db) =>
          listRuns(db, {
            limit,
            ...(after === undefined ? {} : { after }),
            ...(status === undefined ? {} : { status: status as RunStatus }),
            ...(prefix === undefined ? {} : { prefix }),
          }),
        ({ runs, next }) => ({ runs: runs.map((run) => runRow(run, null)), next }),
      ),
    run: (runId) =>
      ask(
        (db) => showRun(db, runId),
        (shown) =>
          shown && {
            run: runRow(shown, shown.tree[0] ?? null),
            tree: agentRows(shown.tree),
            cancelling: shown.cancelling,
            asked: shown.asked,
          },
      ),
    heads: (runId) =>
      ask(
        (db) => agentHeads(db, runId),
        (heads) => new Map(heads.map(({ id, revision }) => [id, revision])),
      ),
    approvals: ({ after, limit, runId, state }) =>
      ask(
        (db) =>
          listApprovals(db, {
            limit: limit + 1,
            ...(after === undefined ? {} : { after: Number(after) }),
            ...(runId === undefined ? {} : { runId }),
            ...(state === undefined ? {} : { state }),
          }),
        async (rows) => {
          const page = rows.slice(0, limit)
          const next = rows.length > limit ? String(page.at(-1)?.requested_position) : null
          return { approvals: await approvals(page), next }
        },
      ),
    asks: ({ runId }) =>
      ask(
        async (db) => ({
          pending: await listApprovals(db, { runId, state: 'pending' }),
          doubts: await listDoubts(db, runId),
          questions: await listQuestions(db, runId),
        }),
        async ({ pending, doubts, questions }) => [
          ...(await approvals(pending)).map(approvalAsk),
          ...(await asked('doubt', doubts)),
          ...(await asked('input', questions)),
        ],
      ),
    doubts: ({ runId }) =>
      ask(
        (db) => listDoubts(db, runId),
        (calls) => asked('doubt', calls),
      ),
    questions: ({ runId }) =>
      ask(
        (db) => listQuestions(db, runId),
        (calls) => asked('input', calls),
      ),
    approval: (toolCallId) =>
      ask(
        (db) => listApprovals(db, { toolCallId }),
        async (rows) => (await approvals(rows))[0] ?? null,
      ),
    artifacts: ({ after, limit, runId }) =>
      ask(
        (db) =>
          listArtifacts(db, {
            limit: limit + 1,
            ...(runId === undefined ? {} : { runId }),
            ...(after === undefined ? {} : { after: Number(after) }),
          }),
        (rows) => {
          const page = rows.slice(0, limit).map(artifactRow)
          return { artifacts: page, next: rows.length > limit ? String(rows[limit - 1]?.position) : null }
        },
      ),
    cost: ({ by, since, runId }) =>
      ask(
        (db) =>
          costBy(db, by, { ...(since === undefined ? {} : { since }), ...(runId === undefined ? {} : { runId }) }),
        ({ rows, total }) => ({
          rows: rows.map(({ name, sum }) => ({ name, ...costRow(sum) })),
          total: costRow(total),
        }),
      ),
    checkpoints: (agentId, { after, limit }) =>
      ask(
        (db) => listCheckpoints(db, agentId, { after: Number(after ?? 0), limit: limit + 1 }),
        (rows) => {
          const page = rows.slice(0, limit).map(({ id, agent_id, step, revision, turn, timestamp }) => ({
            ...{ id, threadId: agent_id, step, revision, turn, timestamp },
          }))
          return { checkpoints: page, next: rows.length > limit ? String(page.at(-1)?.step) : null }
        },
      ),
    checkpoint: (agentId, step) =>
      ask(
        async (db) => {
          const row = await findCheckpoint(db, agentId, step)
          return row && { row, facts: await checkpointFacts(db, row) }
        },
        async (found) => found && ((await assembleCheckpoint(sources, found.row, found.facts)) as unknown as Json),
      ),
    async events({ runId, agentId, after, limit }) {
      const { data } = await tables.read((db) => eventStarts(db, runId, after))
      // Tables that lag behind do not know the youngest runs yet; the log does.
      const all = data.some((one) => one.agentId === runId) ? data : [{ agentId: runId, revision: 0 }, ...data]
      const starts = agentId === undefined ? all : all.filter((one) => one.agentId === agentId)
      return starts.length === 0 ? null : eventsAfter(log, starts, after, limit)
    },
    due: async (before, which) => (await tables.read((db) => dueBefore(db, before, which))).data,
    nextDue: async (after, which) => (await tables.read((db) => nextDue(db, after, which))).data,
    async status() {
      const { position, data } = await tables.read(listParked)
      return {
        position: position && formatCursor(position),
        head: formatCursor(await log.headCursor()),
        parked: data.map(parkedRow),
      }
    },
    async parked(runId) {
      return (await tables.read((db) => listParked(db, runId))).data.map(parkedRow)
    },
    async rebuild({ accept = false } = {}) {
      // A body that was erased a moment ago is gone for the new tables; the live ones have yet to hear of it.
      await caughtUp()
      return rebuildRow(await tables.rebuild({ accept }))
    },
    release: (stream) => tables.release(stream.replace(/^agent-/, '')),
  }
}
