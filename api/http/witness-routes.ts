import { createRoute, z } from '@hono/zod-openapi'
import { notFound, Problem } from '../operations/problem.ts'
import { mustWrite } from '../operations/runs/record-command.ts'
import type { Services } from '../operations/services.ts'
import { newApp, refusals, written } from './new-app.ts'

// The HTTP interface of a witness, https://c2sp.org/tlog-witness@v1.0.0. Its clients are logs and have no token.

const ADD = '/v1/witness/add-checkpoint'
const CHECKPOINT = /^\/v1\/witness\/[0-9a-f]{64}\/checkpoint$/

/** A request has 63 hashes and a checkpoint of at most 100 signatures. */
const MAX_BODY = 64 * 1024

/** Whether a request needs no token. */
export const isWitnessRoute = (method: string, path: string): boolean =>
  (method === 'POST' && path === ADD) || (method === 'GET' && CHECKPOINT.test(path))

/** The limit of bodies on a path, bytes. Null: the path is none of the witness. */
export const witnessBodyLimit = (path: string): number | null => (path === ADD ? MAX_BODY : null)

const text = { 'text/plain': { schema: z.string() } }

const add = createRoute({
  method: 'post',
  path: ADD,
  operationId: 'addCheckpoint',
  security: [],
  summary: 'Cosign a checkpoint of another log, as c2sp.org/tlog-witness says; only for logs that a person added',
  request: { body: { required: true, content: text } },
  responses: {
    200: { description: 'The cosignature', content: text },
    400: { description: 'The request is malformed', content: text },
    403: { description: 'No known key of the log signed the checkpoint', content: text },
    404: { description: 'The witness does not know the log', content: text },
    409: {
      description: 'The old size is not that of the last cosigned checkpoint, which the answer names',
      content: { 'text/x.tlog.size': { schema: z.string() } },
    },
    422: { description: 'The proof does not show that the checkpoint continues the last one', content: text },
    ...refusals,
  },
})

const checkpoint = createRoute({
  method: 'get',
  path: '/v1/witness/{origin}/checkpoint',
  operationId: 'getCosignedCheckpoint',
  security: [],
  summary: 'The last checkpoint of a log that the witness cosigned',
  request: {
    params: z.object({
      origin: z.string().regex(/^[0-9a-f]{64}$/, { error: 'expected the SHA-256 of an origin, hex' }),
    }),
  },
  responses: { 200: { description: 'The checkpoint with both signatures', content: text }, ...refusals },
})

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function witnessRoutes(s: Services) {
  return newApp()
    .openapi(add, async (c) => {
      const bytes = await c.req.arrayBuffer()
      mustWrite(s)
      const { status, mediaType, body } = await witnessOf(s).addCheckpoint(decoded(bytes))
      return written(new Response(body, { status, headers: { 'content-type': mediaType } }))
    })
    .openapi(checkpoint, async (c) => {
      const { origin } = c.req.valid('param')
      const found = await witnessOf(s).checkpoint(origin)
      if (found === null) throw notFound('witnessed log', origin, 'ask the operator to add its key')
      return written(c.text(found))
    })
}

/** Bytes that are no text give an empty request, which is malformed. */
function decoded(bytes: ArrayBuffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return ''
  }
}

function witnessOf({ witness }: Services) {
  if (witness !== null) return witness
  throw new Problem('NOT_SIGNED', 'this program opened its log without a witness; ask another one')
}
