import { createRoute } from '@hono/zod-openapi'
import { current } from '../../http/lag-headers.ts'
import { json, newApp, refusals } from '../../http/new-app.ts'
import { given } from '../omit-undefined.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import { Numbers, NumbersQuery } from './schemas.ts'

const numbers = createRoute({
  method: 'get',
  path: '/v1/numbers',
  operationId: 'getNumbers',
  summary: 'Calls of tools and models, how they failed and how long they took, routing, recoveries and budgets',
  request: { query: NumbersQuery },
  responses: { 200: json(Numbers, 'The figures'), ...refusals },
})

/** How it all goes. */
export function numbersRoutes(s: Services) {
  return newApp().openapi(numbers, async (c) => {
    const { since, run } = c.req.valid('query')
    if (run !== undefined) await mustBeRun(s, run)
    await current(c, s)
    const { position, value } = await s.read.numbers(given({ since, runId: run }))
    return c.json({ position, ...value }, 200)
  })
}
