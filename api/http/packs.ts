import { createRoute, z } from '@hono/zod-openapi'
import { PackChoice, writePack } from '../operations/pack/write-pack.ts'
import { Id } from '../operations/schemas.ts'
import type { Services } from '../operations/services.ts'
import { newApp, refusals, written } from './new-app.ts'
import { streamResponse } from './stream-response.ts'

const { since, until } = PackChoice.shape

const pack = createRoute({
  method: 'get',
  path: '/v1/packs',
  operationId: 'writePack',
  'x-keepup-right': 'log.verify',
  summary: 'Runs with their events, proofs, tables and story as one tar, which anybody can verify without keepup',
  request: {
    query: z.strictObject({
      run: z
        .union([Id, z.array(Id)])
        .optional()
        .meta({ description: 'A run with all its agents; several times for several runs; absent: the whole log' }),
      since,
      until,
      bodies: z.enum(['true', 'false']).prefault('true').meta({ description: 'false: without the bodies of events' }),
    }),
  },
  responses: {
    200: { description: 'The pack', content: { 'application/x-tar': { schema: z.string() } } },
    ...refusals,
  },
})

/** Packs: streams of bytes. */
export const packRoutes = (s: Services) =>
  newApp().openapi(pack, async (c) => {
    const { run = [], since, until, bodies } = c.req.valid('query')
    const pieces = writePack(s, { runs: [run].flat(), since, until, bodies: bodies === 'true' })
    // The head is signed and the files are gathered before the answer begins, so that a refusal has its own status.
    const first = await pieces.next()
    async function* all() {
      if (!first.done) yield first.value
      yield* pieces
    }
    return written(streamResponse(all(), { format: 'tar' }))
  })
