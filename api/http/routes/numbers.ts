import { createRoute } from '@hono/zod-openapi'
import { given } from '../../app/runs/given.ts'
import { mustBeRun } from '../../app/runs/known.ts'
import { Numbers, NumbersQuery } from '../../app/schemas/numbers.ts'
import type { Services } from '../../app/services.ts'
import { current } from '../current.ts'
import { json, newApp, refusals } from '../new-app.ts'

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
