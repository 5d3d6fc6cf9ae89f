import { createRoute } from '@hono/zod-openapi'
import type { StreamProof } from '../../../domain/stream/runtime/proof.ts'
import { eventPage } from '../../http/event-page.ts'
import { current } from '../../http/lag-headers.ts'
import { json, newApp, refusals, written } from '../../http/new-app.ts'
import { streamResponse } from '../../http/stream-response.ts'
import { AgentEventPage, AgentEventsQuery } from '../history/outline-schemas.ts'
import { given } from '../omit-undefined.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'
import { proveStream } from '../streams/prove-stream.ts'
import { StreamList, StreamParam, StreamsQuery, VerifiedLog, VerifiedStream } from '../streams/schemas.ts'
import { verifyLog } from '../streams/verify-log.ts'

const list = createRoute({
  method: 'get',
  path: '/v1/streams',
  operationId: 'listStreams',
  summary: 'The streams of the log, in order of their names',
  request: { query: StreamsQuery },
  responses: { 200: json(StreamList, 'A page of streams'), ...refusals },
})

const events = createRoute({
  method: 'get',
  path: '/v1/streams/{stream}/events',
  operationId: 'listStreamEvents',
  summary: 'The events of any stream from a revision on',
  request: { params: StreamParam, query: AgentEventsQuery },
  responses: { 200: json(AgentEventPage, 'A page of events'), ...refusals },
})

const verify = createRoute({
  method: 'get',
  path: '/v1/streams/{stream}/verify',
  operationId: 'verifyStream',
  summary: 'Check the chain, the bodies and the digests of a stream of any kind, and its rows in the tables',
  request: { params: StreamParam },
  responses: { 200: json(VerifiedStream, 'The proof, or its problems'), ...refusals },
})

const verifyAll = createRoute({
  method: 'get',
  path: '/v1/verify',
  operationId: 'verifyLog',
  summary: 'Check that the tables list the streams that the log holds, and hold rows of no other stream',
  responses: { 200: json(VerifiedLog, 'What was found'), ...refusals },
})

/** The log stream by stream, whatever kind each one is. */
export function logRoutes(s: Services) {
  return newApp()
    .openapi(list, async (c) => {
      const { after, prefix, limit } = c.req.valid('query')
      await current(c, s)
      const { position, value } = await s.read.streams(given({ after, prefix, limit: limit + 1 }))
      const streams = value.slice(0, limit)
      return c.json({ position, streams, next: value.length > limit ? streams.at(-1)!.stream : null }, 200)
    })
    .openapi(verifyAll, async (c) => c.json(await verifyLog(s), 200))
    .openapi(verify, async (c) => {
      const { stream } = c.req.valid('param')
      return c.json(verified(stream, await proveStream(s, stream)), 200)
    })
    .openapi(events, async (c) => {
      const { stream } = c.req.valid('param')
      const { from = 0, limit, brief } = c.req.valid('query')
      if ((await s.log.head(stream)) === null) throw notFound('stream', stream, 'GET /v1/streams lists them')
      return written(streamResponse(eventPage(s, stream, { from, limit, brief: brief === 'true' }), { format: 'json' }))
    })
}

/** The members that the proofs of all kinds of streams share. */
const verified = (stream: string, { ok, events, head, digests, unchecked, erased, problems }: StreamProof) => ({
  ...{ stream, ok, events, head, digests, unchecked, erased, problems },
})
