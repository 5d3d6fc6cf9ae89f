import { type Cursor, formatCursor } from '../../../domain/log/cursor.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { isPerson } from '../../../domain/tree/message-events.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import {
  agentHeads,
  approvalSubject,
  argumentsOf,
  costBy,
  costByCauseOf,
  dueBefore,
  eventStarts,
  eventsAfter,
  failedCallEnds,
  findCheckpoint,
  listApprovals,
  listArtifacts,
  listDoubts,
  listOrphans,
  listParked,
  listQuestions,
  listRestoring,
  nextDue,
  numbersOf,
  type OpenCall,
  placesAt,
  type StoredCheckpoint,
  selectCheckpoints,
  selectDecisions,
  selectMessages,
  selectRuns,
  showRun,
  showTree,
  usageAt,
  type WithPaths,
  withPaths,
} from '../../../projections/index.ts'
import { noRoom } from '../../operations/disk-full.ts'
import { wanted } from '../../operations/events/filter.ts'
import type { AgentPoint } from '../../operations/history/point.ts'
import { omitUndefined } from '../../operations/omit-undefined.ts'
import type { AskRow, ReadModel } from '../../operations/read-model.ts'
import { cursorIn, pageOf, positionAfter } from '../../operations/rows.ts'
import { messageRow } from './message-row.ts'
import {
  agentRows,
  approvalAsk,
  approvalRow,
  artifactRow,
  askRow,
  causeCostRow,
  checkpointRow,
  costRow,
  decisionRow,
  parkedRow,
  rebuildRow,
  runRow,
  treeRow,
  wholeCheckpoint,
} from './row-views.ts'
import { streamsInTables } from './streams-in-tables.ts'
import type { AskTables, Tables } from './table-answers.ts'

/** The sources of content that the tables do not contain: events and checkpoints. */
export interface ContentSources {
  readonly log: EventLog
  readonly blobs: BlobStore
  /** An agent's state at a revision, folded from the log. */
  pointAt(agentId: string, revision: number): Promise<AgentPoint>
}

/** The API's read model over the projections. */
export function readModelOf(tables: Tables, sources: ContentSources): ReadModel {
  const { log } = sources
  const askBy =
    (read: Tables['read']): AskTables =>
    async (query, then) => {
      const { position, data } = await read(query)
      return { position: position && formatCursor(position), value: await then(data) }
    }
  const ask = askBy((query) => tables.read(query))
  const askApart = askBy((query) => tables.readApart?.(query) ?? tables.read(query))
  const approvals = async ({ rows, paths }: WithPaths<Awaited<ReturnType<typeof listApprovals>>[number]>) =>
    Promise.all(rows.map(async (row) => approvalRow(row, await approvalSubject(sources, row), paths)))
  const asked = (why: AskRow['for'], { rows, paths }: WithPaths<OpenCall>): Promise<AskRow[]> =>
    Promise.all(
      rows.map(async (call) =>
        askRow(why, call, await argumentsOf(sources, call.agent_id, call.requested_revision, call.block), paths),
      ),
    )
  const cursorAt = async (agentId: string, revision: number) =>
    cursorIn(log, (await streamOfAgent(log, agentId)) ?? agentStream(agentId), revision)
  const wholeAt = async (row: StoredCheckpoint, usage: AgentPoint['usage']) =>
    wholeCheckpoint(row, usage, await sources.pointAt(row.agent_id, row.revision))
  const caughtUp = async (withinMs = 30_000) => {
    await tables.caughtUpTo(await log.headCursor(), AbortSignal.timeout(withinMs))
  }
  return {
    rows: (query) => ask(query, (found) => found),
    rowsApart: async (query) => (await (tables.readApart?.(query) ?? tables.read(query))).data,
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
    async runs({ after, ...rest }) {
      const place = await positionAfter(log, after)
      // A search for a text takes long; other answers must not wait for its connection.
      return (rest.text === undefined ? ask : askApart)(
        (db) => selectRuns(db, { ...rest, ...(place === undefined ? {} : { after: place }) }),
        async ({ runs, last, matches }) => ({
          runs: runs.map((run) => runRow(run, null)),
          matches,
          next: last && (await cursorAt(last.id, 0)),
        }),
      )
    },
    run: (runId) =>
      ask(
        (db) => showRun(db, runId),
        (shown) =>
          shown && {
            run: runRow(shown, shown.tree[0] ?? null),
            tree: agentRows(shown.tree, shown.waiting),
            cancelling: shown.cancelling,
            asked: shown.driveRequested,
            ...{ restoring: shown.restoring, sessionId: shown.sessionId, continuedBy: shown.continuedBy },
            ...{ isContinued: shown.isContinued, isRequestErased: shown.isRequestErased },
          },
      ),
    tree: (runId) => ask((db) => showTree(db, runId), treeRow),
    placesAt: async (runId, position) =>
      placesAt(log, (await tables.read((db) => eventStarts(db, runId, position))).data, position),
    heads: (runId) =>
      ask(
        (db) => agentHeads(db, runId),
        (heads) => new Map(heads.map(({ id, revision }) => [id, revision])),
      ),
    async approvals({ after, limit, runId, state }) {
      const place = await positionAfter(log, after)
      return ask(
        async (db) =>
          withPaths(db, await listApprovals(db, omitUndefined({ limit: limit + 1, after: place, runId, state }))),
        async ({ rows, paths }) => {
          const { page, next } = await pageOf(rows, limit, (last) =>
            cursorAt(last.agent_id, last.requested_revision ?? 0),
          )
          return { approvals: await approvals({ rows: page, paths }), next }
        },
      )
    },
    async decisions({ after, limit, runId, toolCallId }) {
      const place = await positionAfter(log, after)
      return ask(
        (db) => selectDecisions(db, { runId, toolCallId, limit: limit + 1, after: place }),
        async (rows) => {
          const { page, next } = await pageOf(rows, limit, (last) => cursorAt(last.agent_id, last.first_revision))
          return { decisions: page.map(decisionRow), next }
        },
      )
    },
    asks: ({ runId }) =>
      ask(
        async (db) => ({
          pending: await withPaths(db, await listApprovals(db, { runId, state: 'pending' })),
          doubts: await withPaths(db, await listDoubts(db, runId)),
          questions: await withPaths(db, await listQuestions(db, runId)),
        }),
        async ({ pending, doubts, questions }) => [
          ...(await approvals(pending)).map(approvalAsk),
          ...(await asked('doubt', doubts)),
          ...(await asked('input', questions)),
        ],
      ),
    doubts: ({ runId }) =>
      ask(
        async (db) => withPaths(db, await listDoubts(db, runId)),
        (calls) => asked('doubt', calls),
      ),
    questions: ({ runId }) =>
      ask(
        async (db) => withPaths(db, await listQuestions(db, runId)),
        (calls) => asked('input', calls),
      ),
    approval: (toolCallId) =>
      ask(
        async (db) => withPaths(db, await listApprovals(db, { toolCallId })),
        async (found) => (await approvals(found))[0] ?? null,
      ),
    ...streamsInTables(ask, tables, { ...sources, caughtUp }),
    async artifacts({ after, limit, runId }) {
      const place = await positionAfter(log, after)
      return ask(
        (db) => listArtifacts(db, omitUndefined({ limit: limit + 1, runId, after: place })),
        async (rows) => {
          const { page, next } = await pageOf(rows, limit, (last) => cursorAt(last.agent_id, last.revision))
          return { artifacts: page.map(artifactRow), next }
        },
      )
    },
    failedCallEnds: (query) =>
      ask(
        (db) => failedCallEnds(db, query),
        (found) => found,
      ),
    async messages({ after, limit, runId }) {
      const place = await positionAfter(log, after)
      return ask(
        (db) => selectMessages(db, { runId, limit: limit + 1, after: place }),
        async (rows) => {
          const { page, next } = await pageOf(rows, limit, ({ message }) =>
            cursorAt(message.agent_id, message.revision),
          )
          return { messages: page.map(messageRow), next }
        },
      )
    },
    cost: ({ by, since, runId }) =>
      ask(
        (db) => costBy(db, by, omitUndefined({ since, runId })),
        ({ rows, total }) => ({
          rows: rows.map(({ name, sum }) => ({ name, ...costRow(sum) })),
          total: costRow(total),
        }),
      ),
    costByCause: (which) =>
      ask(
        (db) => costByCauseOf(db, which),
        (rows) => rows.map(causeCostRow),
      ),
    numbers: (which) =>
      ask(
        (db) => numbersOf(db, which),
        (found) => found,
      ),
    async checkpoints(agentId, { after, limit, whole = false }) {
      const place = await positionAfter(log, after)
      return ask(
        async (db) => {
          const rows = await selectCheckpoints(db, agentId, { after: place ?? -1, limit: limit + 1 })
          const page = await Promise.all(
            rows.slice(0, limit).map(async (row) => ({ row, usage: whole ? await usageAt(db, row) : null })),
          )
          return { page, last: rows.length > limit ? rows[limit - 1] : undefined }
        },
        async ({ page, last }) => ({
          checkpoints: await Promise.all(
            page.map(({ row, usage }) => (usage === null ? checkpointRow(row) : wholeAt(row, usage))),
          ),
          next: last ? await cursorAt(last.agent_id, last.revision) : null,
        }),
      )
    },
    checkpoint: (agentId, step) =>
      ask(
        async (db) => {
          const row = await findCheckpoint(db, agentId, step)
          return row && { row, usage: await usageAt(db, row) }
        },
        async (found) => found && wholeAt(found.row, found.usage),
      ),
    async events({ runId, agent, after, limit, ...filter }) {
      const place = (await positionAfter(log, after)) ?? -1
      const { data } = await tables.read((db) => eventStarts(db, runId, place))
      // Tables that lag behind do not contain the newest runs yet. Ask the log.
      const known = data.some((one) => one.agentId === runId)
      const stream = known ? null : await streamOfAgent(log, runId)
      const all = stream === null ? data : [{ agentId: runId, stream, revision: 0 }, ...data]
      const starts = agent === undefined || isPerson(agent) ? all : all.filter((one) => one.agentId === agent)
      if (starts.length === 0) return null
      const which = { ...filter, ...(agent === undefined ? {} : { agent }) }
      const found = await eventsAfter(log, starts, place, limit + 1, (event) => wanted(event, which))
      return { events: found.slice(0, limit), more: found.length > limit }
    },
    due: async (before, which) => (await tables.read((db) => dueBefore(db, before, dueFilter(which)))).data,
    nextDue: async (after, which) => (await tables.read((db) => nextDue(db, after, dueFilter(which)))).data,
    async status() {
      const { position, data } = await tables.read(async (db) => ({
        parked: await listParked(db),
        orphans: await listOrphans(db),
        restoring: await listRestoring(db),
      }))
      const behind = await eventsAfterPosition(log, position)
      return {
        position: position && formatCursor(position),
        head: formatCursor(await log.headCursor()),
        behind,
        rebuilding: tables.rebuilding?.() ?? null,
        ...data,
        parked: data.parked.map(parkedRow),
      }
    },
    async parked(runId) {
      return (await tables.read((db) => listParked(db, runId))).data.map(parkedRow)
    },
    async rebuild({ accept = false } = {}) {
      // New tables do not contain a body erased just before. Let the present tables process the erasure first, so that
      // both are equal.
      await caughtUp()
      return rebuildRow(await tables.rebuild({ accept }))
    },
    release: (stream) => tables.release(stream),
  }
}

const MOST_COUNTED = 10_000

/** The number of events after a position, at most {@link MOST_COUNTED}. */
async function eventsAfterPosition(log: EventLog, position: Cursor | null): Promise<number> {
  let count = 0
  for await (const page of log.readAll(position, { limit: MOST_COUNTED, bodies: false })) count += page.length
  return count
}

const dueFilter = (which: { readonly asked: boolean } | undefined) => ({ driveRequested: which?.asked ?? false })
