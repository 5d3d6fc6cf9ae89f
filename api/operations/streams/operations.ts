import { eventPage } from '../events/event-page.ts'
import { AgentEventPage, AgentEventsQuery } from '../history/outline-schemas.ts'
import { operation } from '../operation.ts'
import { notFound } from '../problem.ts'
import { eraseStream } from './erase.ts'
import { listStreams } from './list-streams.ts'
import { proveStream } from './prove-stream.ts'
import { StreamList, StreamParam, StreamsQuery, VerifiedLog, VerifiedStream } from './schemas.ts'
import { verifyLog } from './verify-log.ts'

/** The streams of the log, of every kind. */
export const STREAM_OPERATIONS = [
  operation({
    name: 'listStreams',
    http: 'GET /v1/streams',
    right: 'log.read',
    summary: 'The streams of the log, in order of their names',
    input: { query: StreamsQuery },
    output: StreamList,
    answers: { 200: 'A page of streams' },
    awaitsTables: true,
    run: (s, { query }) => listStreams(s, query),
  }),
  operation({
    name: 'listStreamEvents',
    http: 'GET /v1/streams/{stream}/events',
    right: 'log.read',
    summary: 'The events of any stream from a revision on',
    input: { params: StreamParam, query: AgentEventsQuery },
    output: AgentEventPage,
    answers: { 200: 'A page of events' },
    run: async (s, { params: { stream }, query }) => {
      if ((await s.log.head(stream)) === null) throw notFound('stream', stream, 'GET /v1/streams lists them')
      return eventPage(s, stream, query)
    },
  }),
  operation({
    name: 'verifyStream',
    http: 'GET /v1/streams/{stream}/verify',
    right: 'log.verify',
    summary:
      'Check the chain, the bodies and the digests of a stream of any kind, its rows in the tables, and the signed heads',
    input: { params: StreamParam },
    output: VerifiedStream,
    answers: { 200: 'The proof, or its problems' },
    run: async (s, { params: { stream } }) => {
      // Proofs of some kinds have members that the others do not share.
      const { ok, events, proof, head, digests, unchecked, erased, problems } = await proveStream(s, stream)
      return { stream, ok, events, proof, head, digests, unchecked, erased, problems }
    },
  }),
  operation({
    name: 'verifyLog',
    http: 'GET /v1/verify',
    right: 'log.verify',
    summary: 'Check that the tables list the streams that the log holds, and hold rows of no other stream',
    input: {},
    output: VerifiedLog,
    answers: { 200: 'What was found' },
    run: (s) => verifyLog(s),
  }),
  eraseStream,
] as const
