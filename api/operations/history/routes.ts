import { createRoute, z } from '@hono/zod-openapi'
import type { AgentAt } from '../../../domain/agent/runtime/types.ts'
import { recordedAt } from '../../../domain/external/runtime/recorded-at.ts'
import { formatCursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { At } from '../../../domain/stream/point.ts'
import type { KeyedMutex } from '../../../domain/stream/runtime/concurrency.ts'
import { current } from '../../http/lag-headers.ts'
import { body, json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { streamResponse } from '../../http/stream-response.ts'
import { EventPage } from '../events/schemas.ts'
import { EventViews, type Piece } from '../events/view.ts'
import { filesDiffer } from '../external/files-differ.ts'
import { RecordedAtPoint } from '../external/recorded-at-schema.ts'
import { recordedPointOf } from '../external/recorded-point.ts'
import { optionsOf, StartHeaders } from '../headers.ts'
import { given } from '../omit-undefined.ts'
import { notFound } from '../problem.ts'
import { isUngoverned, mustBeRun, mustGovern } from '../runs/run-of-agent.ts'
import { Difference, ForkBody, Started, VerifiedRun } from '../runs/schemas.ts'
import { verifyRun } from '../runs/verify-run.ts'
import { AtQuery, Digits, EventTypes, Id, PageQuery } from '../schemas.ts'
import type { FilePoint, Services } from '../services.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'
import { AgentAtPoint } from './checkpoint-schemas.ts'
import { compareRuns } from './compare-runs.ts'
import { CompareQuery, RunComparison } from './compare-schemas.ts'
import { afterCommon, differences } from './difference.ts'
import { forkRun } from './fork-run.ts'
import { pointOf } from './point.ts'

const events = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/events',
  operationId: 'listRunEvents',
  summary: 'The events of all agents of a run, or of one of them, in the order of the log',
  request: {
    params: RunId,
    query: PageQuery.extend({
      agent: Id.optional().openapi({ description: 'An agent of the run, or a person: user:<id>' }),
      type: EventTypes.optional(),
      turn: Digits.optional().openapi({ type: 'integer', description: 'As events show it: 0 outside of turns' }),
    }),
  },
  responses: { 200: json(EventPage, 'A page of events'), ...refusals },
})

const state = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/state',
  operationId: 'getRunState',
  summary: 'The state at a step, turn or event, folded from the log; nothing is performed',
  request: { params: RunId, query: AtQuery },
  responses: {
    200: json(z.union([AgentAtPoint, RecordedAtPoint]), 'The state; of a run of another agent: its record'),
    ...refusals,
  },
})

const point = z
  .string()
  .regex(/^(?:[^:]+:)?\d+$/, { error: 'expected a step, or <agent>:<step>' })
  .refine(isPlain, PLAIN)
  .openapi({ description: 'A step of this run, or <agent>:<step>' })

const DiffQuery = z.strictObject({
  a: point,
  b: point,
  only: z
    .enum(['files'])
    .optional()
    .openapi({ description: 'files: state and messages are not compared, which is quick' }),
})

const diff = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/diff',
  operationId: 'compareRunStates',
  summary: 'What differs between two steps, of one run or of two',
  request: { params: RunId, query: DiffQuery },
  responses: { 200: json(Difference, 'The difference'), ...refusals },
})

const compare = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/compare',
  operationId: 'compareRuns',
  summary: 'Two runs beside each other: the first difference in what was asked, answered or decided, and all others',
  request: { params: RunId, query: CompareQuery },
  responses: { 200: json(RunComparison, 'The comparison'), ...refusals },
})

const fork = createRoute({
  method: 'post',
  path: '/v1/runs/{id}/fork',
  operationId: 'forkRun',
  summary: 'A new run whose history up to a point is that of this one',
  request: { params: RunId, headers: StartHeaders, body: body(ForkBody) },
  responses: { 201: json(Started, 'Forked'), 200: json(Started, 'Forked before, by the same key'), ...refusals },
})

export const OneAgent = z.strictObject({ agent: Id.optional().openapi({ description: 'Only this agent of the run' }) })

const verify = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/verify',
  operationId: 'verifyRun',
  summary: 'Check the chain, the bodies and the digests of every agent of a run, and that children end as was recorded',
  request: { params: RunId, query: OneAgent },
  responses: { 200: json(VerifiedRun, 'What was found'), ...refusals },
})

/** A page ends with the event that brings it over so many bytes of bodies. */
const PAGE_BYTES = 4 * 1024 * 1024
const JSON_HEADERS = { 'content-type': 'application/json' }

/** The first of some events as JSON, as many as fit into a page; at least one where there is any. */
async function pageOf(views: EventViews, events: readonly RecordedEvent[]) {
  const pieces: Piece[] = []
  let bytes = 0
  let count = 0
  for (const event of events) {
    if (bytes > PAGE_BYTES) break
    if (count > 0) pieces.push(',')
    for await (const piece of views.json(event)) pieces.push(piece)
    bytes += event.header.body.size
    count++
  }
  return { pieces, count }
}

const MAX_PATCH = 512 * 1024

/** The named point of a history; null: its head. */
export function atOf(q: { step?: number | undefined; turn?: number | undefined; event?: number | undefined }): At {
  if (q.step !== undefined) return { step: q.step }
  if (q.turn !== undefined) return { turn: q.turn }
  return q.event === undefined ? null : { revision: q.event }
}

export function historyRoutes(s: Services, underway: KeyedMutex) {
  const parsePoint = (runId: string, text: string): FilePoint => {
    const colon = text.lastIndexOf(':')
    return { agentId: colon < 0 ? runId : text.slice(0, colon), at: { step: Number(text.slice(colon + 1)) } }
  }
  /** The members that `diff` compares: messages are compared beside it, and every event has another place. */
  const comparedOf = (at: AgentAt): Json => {
    const {
      id: _i,
      threadId: _t,
      agentId: _a,
      runId: _r,
      revision: _v,
      hash: _h,
      timestamp: _s,
      ...shown
    } = pointOf(at)
    const { messages: _, ...state } = shown.state
    return JSON.parse(JSON.stringify({ ...shown, state })) as Json
  }

  return newApp()
    .openapi(events, async (c) => {
      const { agent, type, turn, limit, after } = c.req.valid('query')
      const { id } = c.req.valid('param')
      await mustBeRun(s, id)
      await current(c, s)
      const types = type && new Set(type)
      const found = await s.read.events(given({ runId: id, agent, types, turn, limit, after }))
      if (found === null) throw notFound('agent', agent ?? id)
      const views = new EventViews(s.log, s.blobs)
      const { pieces, count } = await pageOf(views, found.events)
      const last = found.more || found.events.length > count ? found.events[count - 1] : undefined
      const next = last === undefined ? null : formatCursor(s.log.cursor(last))
      const page = ['{"events":[', ...pieces, `],"next":${JSON.stringify(next)}}`]
      return c.body(streamResponse(page.values(), { format: 'json' }).body as never, 200, JSON_HEADERS) as never
    })
    .openapi(state, async (c) => {
      const q = c.req.valid('query')
      const agentId = q.agent ?? c.req.valid('param').id
      if (await isUngoverned(s, agentId)) {
        const recorded = await recordedAt(s, agentId, atOf(q))
        c.header('ETag', `"${recorded.last.header.revision}"`)
        return c.json(recordedPointOf(recorded), 200)
      }
      const at = await s.runtime.at(agentId, atOf(q))
      c.header('ETag', `"${at.head.revision}"`)
      return c.json(pointOf(at), 200)
    })
    .openapi(diff, async (c) => {
      const { id } = c.req.valid('param')
      const q = c.req.valid('query')
      const [a, b] = [parsePoint(id, q.a), parsePoint(id, q.b)]
      const onlyFiles = q.only === 'files' || ((await isUngoverned(s, a.agentId)) && (await isUngoverned(s, b.agentId)))
      if (onlyFiles) return c.json(await filesDiffer(s, a, b, MAX_PATCH), 200)
      for (const { agentId } of [a, b]) await mustGovern(s, agentId, 'a comparison with an own agent')
      const [atA, atB] = await Promise.all([s.runtime.at(a.agentId, a.at), s.runtime.at(b.agentId, b.at)])
      const files = await s.files.diff(a, b, MAX_PATCH)
      const found = {
        a: { agentId: a.agentId, revision: atA.head.revision },
        b: { agentId: b.agentId, revision: atB.head.revision },
        state: differences(comparedOf(atA), comparedOf(atB)).map(
          (d) => ({ ...d }) as { path: string; a?: unknown; b?: unknown },
        ),
        messages: afterCommon<unknown>(atA.messages, atB.messages),
        files: files && { changes: [...files.changes], patch: files.patch },
      }
      return c.json(found, 200)
    })
    .openapi(compare, async (c) => {
      return c.json(await compareRuns(s, c.req.valid('param').id, c.req.valid('query')), 200)
    })
    .openapi(fork, async (c) => {
      const { id } = c.req.valid('param')
      const { by, drive, agent, step, turn, event, ...what } = c.req.valid('json')
      const asked = { at: atOf({ step, turn, event }), ...what }
      const forked = await forkRun(s, underway, agent ?? id, asked, {
        by,
        drive,
        options: optionsOf(c.req.valid('header')),
      })
      c.header('ETag', `"${forked.revision}"`)
      c.header('Location', `/v1/runs/${forked.runId}`)
      return c.json(forked, forked.created ? 201 : 200)
    })
    .openapi(verify, async (c) => {
      return c.json(await verifyRun(s, c.req.valid('param').id, c.req.valid('query').agent), 200)
    })
}
