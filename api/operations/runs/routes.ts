import { createRoute } from '@hono/zod-openapi'
import { specOf } from '../../../domain/agent/runtime/history/spec.ts'
import { current } from '../../http/lag-headers.ts'
import { isOverNetwork } from '../../http/network.ts'
import { body, json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { optionsOf, StartHeaders } from '../headers.ts'
import { treeAt } from '../history/tree-at.ts'
import { TreeAt, TreeAtQuery } from '../history/tree-at-schemas.ts'
import { acceptedLosses } from '../losses/accepted.ts'
import { given } from '../omit-undefined.ts'
import type { RunRow } from '../read-model.ts'
import type { Services } from '../services.ts'
import { hasEnded } from './drive-end.ts'
import { unread } from './missing-run.ts'
import { RunQuery } from './query-schema.ts'
import { type Run, RunDetail, RunList, RunTree, Started } from './schemas.ts'
import { startRun } from './start-run.ts'
import { StartRun } from './start-schemas.ts'

const start = createRoute({
  method: 'post',
  path: '/v1/runs',
  operationId: 'startRun',
  summary: 'Start a run',
  request: { headers: StartHeaders, body: body(StartRun) },
  responses: {
    201: json(Started, 'Recorded'),
    200: json(Started, 'The same request had started it before'),
    ...refusals,
  },
})

const list = createRoute({
  method: 'get',
  path: '/v1/runs',
  operationId: 'listRuns',
  summary: 'Runs, newest first, of which all holds that is asked for',
  request: { query: RunQuery },
  responses: { 200: json(RunList, 'A page of runs'), ...refusals },
})

const show = createRoute({
  method: 'get',
  path: '/v1/runs/{id}',
  operationId: 'getRun',
  summary: 'A run, its tree of agents and totals',
  request: { params: RunId },
  responses: { 200: json(RunDetail, 'The run'), ...refusals },
})

const tree = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/tree',
  operationId: 'getRunTree',
  summary: 'The agents of a run: how each one stands, what it waits for, and its money',
  description: 'To follow it, read it again after events of the run: GET /v1/events?run={id}&from=head.',
  request: { params: RunId },
  responses: { 200: json(RunTree, 'The tree'), ...refusals },
})

const past = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/tree/at',
  operationId: 'getRunTreeAt',
  summary: 'The agents of a run as they were when an event was appended: which there were, and their status and turn',
  request: { params: RunId, query: TreeAtQuery },
  responses: { 200: json(TreeAt, 'The agents that were born by then'), ...refusals },
})

export function runRoutes(s: Services) {
  const view = (row: RunRow, sizes: ReadonlyMap<string, number>): Run => {
    const driving = row.ungoverned ? s.agents?.at(row.runId) !== undefined : s.drivers.state(row.runId).driving
    const idle = !hasEnded(row.status) && !driving && row.waiting.length === 0 && (row.turn > 0 || row.ungoverned)
    // On servers the drivers of other processes are not known.
    const interrupted = idle && s.workSubscription !== null ? null : idle
    const { open } = s.losses
    const isShort = open?.streams.some(({ runId }) => runId === row.runId) === true
    const shortened = isShort || (open?.unlisted === true && !hasEnded(row.status))
    return { ...row, shortened, bytes: sizes.get(row.runId) ?? null, driving, interrupted }
  }
  const missingOf = async ({ runId, status, ungoverned }: RunRow, cancelling: boolean): Promise<string[]> => {
    // To end a run needs none of its tools.
    if (cancelling || hasEnded(status) || ungoverned) return []
    // A drive and a verification of the run tell what cannot be read.
    const found = await specOf(s, runId).catch(() => null)
    return found === null ? [] : s.runtime.missingTools(found.spec)
  }
  return newApp()
    .openapi(start, async (c) => {
      const options = optionsOf(c.req.valid('header'))
      const started = await startRun(s, c.req.valid('json'), options, true, isOverNetwork(c))
      c.header('ETag', `"${started.revision}"`)
      c.header('Location', `/v1/runs/${started.runId}`)
      return started.created ? c.json(started, 201) : c.json(started, 200)
    })
    .openapi(list, async (c) => {
      await current(c, s)
      const { position, value } = await s.read.runs(given(c.req.valid('query')))
      const sizes = await s.sizes(value.runs.map(({ runId }) => runId))
      return c.json({ position, runs: value.runs.map((r) => view(r, sizes)), next: value.next }, 200)
    })
    .openapi(show, async (c) => {
      await current(c, s)
      const { id } = c.req.valid('param')
      const { position, value } = await s.read.run(id)
      if (!value) throw await unread(s, id)
      const asks = await s.read.asks({ runId: id })
      const parked = await s.read.parked(id)
      const losses = await acceptedLosses(s, [id, ...value.tree.map(({ agentId }) => agentId)])
      const missingTools = await missingOf(value.run, value.cancelling)
      // A verification of the run tells what cannot be read.
      const reuse = value.run.source === null ? null : await s.runtime.reused(id).catch(() => null)
      const workersDrive = s.holder !== null && value.asked && !hasEnded(value.run.status)
      c.header('ETag', `"${value.run.revision}"`)
      const incomplete = value.run.incomplete || parked.length > 0
      const run = view({ ...value.run, incomplete }, await s.sizes([id]))
      return c.json(
        {
          ...{ position, run, tree: value.tree, asks: asks.value, parked: [...parked] },
          ...{ acceptedLosses: losses, reuse, workersDrive, missingTools, restoring: value.restoring },
        },
        200,
      )
    })
    .openapi(tree, async (c) => {
      await current(c, s)
      const { id } = c.req.valid('param')
      const { position, value } = await s.read.tree(id)
      if (!value) throw await unread(s, id)
      return c.json({ position, runId: id, ...value }, 200)
    })
    .openapi(past, async (c) => {
      await current(c, s)
      const { id } = c.req.valid('param')
      const { agent = id, event } = c.req.valid('query')
      return c.json(await treeAt(s, id, agent, event), 200)
    })
}
