import { createRoute, z } from '@hono/zod-openapi'
import { json, newApp, refusals } from '../../http/new-app.ts'
import { Problem } from '../problem.ts'
import { mustGovern } from '../runs/run-of-agent.ts'
import { Digits, Id } from '../schemas.ts'
import type { Services } from '../services.ts'
import { SentRequests } from './request-schemas.ts'

const request = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/turns/{turn}/request',
  operationId: 'getModelRequests',
  summary: 'What the model was sent in a turn, attempt by attempt, put together from the log',
  description:
    'Turn 0 has the requests for summaries, which are made between turns. Messages, prompt, tools and parameters are checked against the hash that the log recorded. `body` is not: the process ' +
    'that answers makes it from them with its own settings for the provider (such as `OPENAI_BASE_URL`), which may differ ' +
    'from those of the process that sent it.',
  request: {
    params: z.object({ id: Id, turn: Digits.pipe(z.int()) }),
    query: z.strictObject({ agent: Id.optional() }),
  },
  responses: { 200: json(SentRequests, 'The requests'), ...refusals },
})

/** The requests that models were sent. */
export function requestRoutes(s: Services) {
  return newApp().openapi(request, async (c) => {
    const { id, turn } = c.req.valid('param')
    const agentId = c.req.valid('query').agent ?? id
    await mustGovern(s, agentId, 'to rebuild what its model was asked')
    const { wire } = s
    if (wire === null)
      throw new Problem('WIRE_UNKNOWN', 'this program brought its own models; it cannot tell their wire form')
    const found = await s.runtime.requests(agentId, turn)
    const requests = found.map(({ attempt, revision, request, recorded }) => ({
      attempt,
      revision,
      model: request.model,
      system: request.system,
      ...wire(request),
      checked: { inputs: recorded.inputs },
    }))
    return c.json({ runId: id, agentId, turn, requests }, 200)
  })
}
