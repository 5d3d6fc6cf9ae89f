import { createRoute, z } from '@hono/zod-openapi'
import { type Cursor, formatCursor } from '../../domain/log/cursor.ts'
import type { ConsumerPage, ConsumerReader } from '../operations/consumers/reader.ts'
import { ConsumeQuery, ConsumerParam } from '../operations/consumers/schemas.ts'
import { type AskedEvents, askedEvents } from '../operations/events/feed-page.ts'
import { EventView } from '../operations/events/schemas.ts'
import { Problem } from '../operations/problem.ts'
import { mustWrite } from '../operations/runs/record-command.ts'
import type { Services } from '../operations/services.ts'
import { newApp, refusals } from './new-app.ts'
import { sse, streamResponse, type WirePiece } from './stream-response.ts'

const events = createRoute({
  method: 'get',
  path: '/v1/consumers/{name}/events',
  operationId: 'consumeEvents',
  'x-keepup-right': 'log.read',
  summary: 'Open a consumer, and read the events after its position, in order',
  description:
    'SSE, or a batch as NDJSON where asked for, or with `max` or `wait`. The present reader of the consumer ends. The ' +
    'first event of SSE, `reader`, has the epoch for acks; the last one, `end`, says why the stream ends. A batch has ' +
    'the epoch in the header `keepup-epoch`, and its last line is `{"epoch","position"}`: ack this position. With ' +
    '`epoch`, the next batch is for the same reader.',
  request: {
    params: ConsumerParam,
    headers: z.object({ accept: z.string().optional() }),
    query: ConsumeQuery,
  },
  responses: {
    200: {
      description: 'Events',
      content: { 'text/event-stream': { schema: z.string() }, 'application/x-ndjson': { schema: EventView } },
    },
    ...refusals,
  },
})

const idOf = (cursor: Cursor | null) => cursor && formatCursor(cursor)

async function* piecesOf(pages: AsyncIterable<ConsumerPage>, asked: AskedEvents): AsyncGenerator<WirePiece> {
  for await (const { page, events } of pages) if (events.length > 0) yield* page.pieces(asked)
}

/** Streams of events for named consumers. */
export function consumerRoutes(s: Services, heartbeatMs: number) {
  return newApp().openapi(events, async (c) => {
    mustWrite(s)
    const { name } = c.req.valid('param')
    const { epoch, max, wait } = c.req.valid('query')
    const ndjson = c.req.valid('header').accept?.includes('application/x-ndjson') ?? false
    const reader = await (epoch === undefined ? s.consumers.open(name) : s.consumers.reopen(name, epoch))
    const over = new AbortController()
    const onClose = () => over.abort()
    if (ndjson || max !== undefined || wait !== undefined) {
      const pages = reader.batch(max ?? 500, (wait ?? 20) * 1_000, over.signal)
      const headers = { 'keepup-epoch': String(reader.epoch) }
      return streamResponse(batch(reader, pages), { format: 'ndjson', headers, onClose })
    }
    const beat = () => (reader.read === null ? ': still here\n\n' : sse({ id: formatCursor(reader.read) }))
    return streamResponse(stream(reader, over.signal), {
      format: 'sse',
      headers: { 'keepup-heartbeat-ms': String(heartbeatMs), 'keepup-epoch': String(reader.epoch) },
      heartbeat: { ms: heartbeatMs, text: beat, clock: s.clock },
      onClose,
    })
  })
}

async function* batch(reader: ConsumerReader, pages: AsyncIterable<ConsumerPage>): AsyncGenerator<WirePiece> {
  yield* piecesOf(pages, askedEvents({ format: 'ndjson', brief: false }, reader.filter))
  yield `${JSON.stringify({ epoch: reader.epoch, position: idOf(reader.read) })}\n`
}

async function* stream(reader: ConsumerReader, signal: AbortSignal): AsyncGenerator<WirePiece> {
  const { name, epoch } = reader
  const position = idOf(reader.position)
  yield sse({ ...(position !== null && { id: position }), event: 'reader', data: { name, epoch, position } })
  try {
    yield* piecesOf(reader.pages(signal), askedEvents({ format: 'sse', brief: false }, reader.filter))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    yield sse({ event: 'end', data: { code: error.code, detail: error.message } })
  }
}
