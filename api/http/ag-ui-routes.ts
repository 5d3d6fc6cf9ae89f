import { createRoute, z } from '@hono/zod-openapi'
import { beginRun } from '../operations/ag-ui/begin.ts'
import { RunAgentInput } from '../operations/ag-ui/schemas.ts'
import { runStream } from '../operations/ag-ui/stream.ts'
import type { Services } from '../operations/services.ts'
import { identityIn, requestOptions } from './access-guards.ts'
import { isOverNetwork } from './network.ts'
import { body, newApp, refusals, written } from './new-app.ts'
import { sse, streamResponse } from './stream-response.ts'

const PATH = '/v1/ag-ui'

/** The most bytes of a request: clients send the whole conversation. */
const MAX_BYTES = 8 * 1024 * 1024

/** The limit of bodies on a path, bytes. Null: the path is another one. */
export const agUiBodyLimit = (path: string): number | null => (path === PATH ? MAX_BYTES : null)

const run = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'runAgUi',
  'x-keepup-right': 'bodies.read',
  summary: 'Start or continue a run for a front end that speaks AG-UI 1.0, and follow it',
  description:
    'Starting needs `runs.start`, a further message or an answer to a question `runs.steer`, and a decision about a call `runs.decide`. ' +
    'The stream ends when the run ends or needs a person. The run goes on if the connection breaks: send the same request again.',
  request: { body: body(RunAgentInput) },
  responses: {
    200: { description: 'Events', content: { 'text/event-stream': { schema: z.string() } } },
    ...refusals,
  },
})

/** Runs for front ends that speak AG-UI. */
export function agUiRoutes(s: Services, heartbeatMs: number) {
  return newApp().openapi(run, async (c) => {
    const input = c.req.valid('json')
    const options = requestOptions(c, {})
    const begun = await beginRun(s, input, { options, overNetwork: isOverNetwork(c) })
    const identity = identityIn(c)
    if (identity !== null) s.uses.read({ principal: identity.principal, operation: 'runAgUi', run: begun.runId })
    const over = new AbortController()
    async function* pieces(): AsyncGenerator<string> {
      for await (const data of runStream(s, input, begun, options, over.signal)) yield sse({ data })
    }
    return written(
      streamResponse(pieces(), {
        format: 'sse',
        heartbeat: { ms: heartbeatMs, text: () => ': still here\n\n', clock: s.clock },
        onClose: () => over.abort(),
      }),
    )
  })
}
