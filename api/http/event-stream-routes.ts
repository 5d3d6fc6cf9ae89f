import { createRoute, z } from '@hono/zod-openapi'
import { formatCursor } from '../../domain/log/cursor.ts'
import { agentStream } from '../../domain/log/ids.ts'
import { kindOf } from '../../domain/log/owner.ts'
import { isPerson } from '../../domain/tree/message-events.ts'
import { isWork, readableKinds } from '../operations/access/readable-kinds.ts'
import type { PersonPresent } from '../operations/document/presence.ts'
import { DocumentId } from '../operations/document/schemas.ts'
import { documentUpdates, mustReach } from '../operations/document/updates.ts'
import { EventFeed } from '../operations/events/feed.ts'
import { askedEvents } from '../operations/events/feed-page.ts'
import { checkedCursor } from '../operations/events/filter.ts'
import { EventStreamQuery, EventView } from '../operations/events/schemas.ts'
import { omitUndefined } from '../operations/omit-undefined.ts'
import { mustBeRun, runOfAgent } from '../operations/runs/run-of-agent.ts'
import { Digits, Id } from '../operations/schemas.ts'
import type { Services } from '../operations/services.ts'
import { identityIn } from './access-guards.ts'
import { newApp, RunId, refusals } from './new-app.ts'
import { type StreamOptions, sse, streamResponse, type WirePiece } from './stream-response.ts'

const stream = (description: string) => ({
  200: {
    description,
    content: { 'text/event-stream': { schema: z.string() }, 'application/x-ndjson': { schema: EventView } },
  },
  ...refusals,
})

const events = createRoute({
  method: 'get',
  path: '/v1/events',
  operationId: 'streamEvents',
  'x-keepup-right': 'runs.read',
  summary: 'Every event of the log that the reader may see, then those to come; nothing is skipped or repeated',
  description:
    'With `log.read` every event; otherwise those of runs (`bodies.read`), documents, memories and stores, by the rights to read them. ' +
    'SSE, or NDJSON where asked for. `Last-Event-ID` (or `after`) is a cursor: what comes is after it.',
  request: {
    headers: z.object({ 'last-event-id': z.string().optional(), accept: z.string().optional() }),
    query: EventStreamQuery,
  },
  responses: stream('Events'),
})

const live = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/live',
  operationId: 'streamRunNews',
  'x-keepup-right': 'bodies.read',
  summary: 'Text as it streams, and whether a driver is at work; ephemeral, never stored',
  request: { params: RunId },
  responses: {
    200: { description: 'News', content: { 'text/event-stream': { schema: z.string() } } },
    ...refusals,
  },
})

const updates = createRoute({
  method: 'get',
  path: '/v1/documents/{id}/updates',
  operationId: 'streamUpdates',
  'x-keepup-right': 'documents.read',
  summary: 'The updates of a document, then those to come; nothing is skipped or repeated',
  description:
    'SSE. `Last-Event-ID` (or `after`) is a revision: what comes is after it. Without one: from the first on. One that the ' +
    'document has not reached is refused, as after a restore. Events `presence` say who edits the document where; they are ' +
    'not stored and have no id.',
  request: {
    params: z.object({ id: DocumentId }),
    headers: z.object({ 'last-event-id': Digits.optional() }),
    query: z.strictObject({
      after: Digits.optional().meta({ type: 'integer' }),
      presence: Id.optional().meta({
        description: 'With events `presence`; this `client` leaves when the stream ends',
      }),
    }),
  },
  responses: {
    200: { description: 'Updates', content: { 'text/event-stream': { schema: z.string() } } },
    ...refusals,
  },
})

/** Streams of events that end when their reader leaves. */
export function streamRoutes(s: Services, heartbeatMs: number) {
  const heartbeat = (text: () => string): NonNullable<StreamOptions['heartbeat']> => ({
    ms: heartbeatMs,
    text,
    clock: s.clock,
  })

  /** So that a reader knows when silence is none of ours. */
  const pace = { 'keepup-heartbeat-ms': String(heartbeatMs) }
  const feed = new EventFeed(s)

  return newApp()
    .openapi(events, async (c) => {
      const q = c.req.valid('query')
      const asked = c.req.valid('header')
      if (q.run !== undefined) await mustBeRun(s, q.run)
      if (q.agent !== undefined && !isPerson(q.agent)) await runOfAgent(s, q.agent)
      const ndjson = asked.accept?.includes('application/x-ndjson') ?? false
      let after = await checkedCursor(s.log, asked['last-event-id'] ?? q.after)
      if (after === null && q.from === 'head') after = await s.log.headCursor()
      const kinds = readableKinds(identityIn(c))
      const filter = omitUndefined({ run: q.run, agent: q.agent, types: q.type && new Set(q.type), kinds })
      const cloudEvents = q.format === 'cloudevents'
      const form = { format: ndjson ? 'ndjson' : 'sse', brief: q.brief === 'true', cloudEvents } as const
      const wanted = askedEvents(form, filter)
      const over = new AbortController()
      // A heartbeat names the position, so that a consumer whose filter excludes most events still advances.
      let seen = after
      async function* pieces(): AsyncGenerator<WirePiece> {
        // The start position: a reader that loses the connection before the first event resumes from it.
        if (!ndjson) yield after === null ? ': events\n\n' : sse({ id: formatCursor(after) })
        for await (const page of q.follow === 'true' ? feed.follow(after, over.signal) : feed.read(after)) {
          for await (const piece of page.pieces(wanted)) {
            if (over.signal.aborted) return
            yield piece
          }
          // A page of the browser loads again at a new position, and its reads are recorded in streams that it may not see.
          if (kinds === undefined || page.events.some(({ header }) => isWork(kindOf(header.stream)))) seen = page.end
        }
      }
      const beat = () => (ndjson ? '\n' : seen === null ? ': still here\n\n' : sse({ id: formatCursor(seen) }))
      return streamResponse(pieces(), {
        format: ndjson ? 'ndjson' : 'sse',
        headers: pace,
        heartbeat: heartbeat(beat),
        onClose: () => over.abort(),
      })
    })
    .openapi(live, async (c) => {
      const { id } = c.req.valid('param')
      await mustBeRun(s, id)
      const over = new AbortController()
      const news = s.live.listen(id, over.signal)
      const now = s.drivers.state(id)
      async function* pieces(): AsyncGenerator<string> {
        yield sse({ event: 'drive', data: { kind: 'drive', runId: id, ...now } })
        for await (const item of news) {
          const ended = item.kind === 'drive' && item.end !== null
          const head = ended ? await s.log.head(agentStream(id)).catch(() => null) : null
          yield sse({ event: item.kind, data: head ? { ...item, revision: head.revision } : item })
        }
      }
      return streamResponse(pieces(), {
        format: 'sse',
        headers: pace,
        heartbeat: heartbeat(() => ': still here\n\n'),
        onClose: () => over.abort(),
      })
    })
    .openapi(updates, async (c) => {
      const { id } = c.req.valid('param')
      const { after: first = -1, presence } = c.req.valid('query')
      const after = c.req.valid('header')['last-event-id'] ?? first
      await mustReach(s, id, after)
      const over = new AbortController()
      const updated = documentUpdates(s, id, after, over.signal)
      async function* pieces(): AsyncGenerator<string> {
        yield ': updates\n\n'
        for await (const { revision, at, actor, body } of updated) {
          const { update, frontier } = body
          const data = { revision, at: new Date(at).toISOString(), by: actor, frontier, update }
          yield sse({ id: String(revision), event: 'update', data })
        }
      }
      const source =
        presence === undefined
          ? pieces()
          : withPresence(s, { id, client: presence, by: identityIn(c)?.principal ?? null }, pieces(), over.signal)
      return streamResponse(source, {
        format: 'sse',
        headers: pace,
        heartbeat: heartbeat(() => ': still here\n\n'),
        onClose: () => over.abort(),
      })
    })
}

/** A stream of updates, with the presence of the people at the document. A slow reader gets the last that each window said. */
async function* withPresence(
  { presence }: Services,
  { id, client: own, by }: { readonly id: string; readonly client: string; readonly by: string | null },
  updates: AsyncGenerator<string>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const waiting = new Map<string, PersonPresent>()
  let wake = Promise.withResolvers<void>()
  const update: { arrived: Promise<IteratorResult<string>> | null } = { arrived: null }
  const ask = () => {
    const next = updates.next()
    update.arrived = null
    const arrive = () => {
      update.arrived = next
      wake.resolve()
    }
    next.then(arrive, arrive)
  }
  const close = presence.open(id, own, by)
  const leave = presence.listen(id, (said) => {
    waiting.set(`${said.by.id} ${said.client}`, said)
    wake.resolve()
  })
  try {
    ask()
    while (!signal.aborted) {
      await wake.promise
      wake = Promise.withResolvers()
      for (const [window, data] of waiting) {
        waiting.delete(window)
        yield sse({ event: 'presence', data })
      }
      if (update.arrived === null) continue
      const { done, value } = await update.arrived
      if (done === true) return
      yield value
      ask()
    }
  } finally {
    leave()
    close()
    await updates.return(undefined)
  }
}
