import { createRoute } from '@hono/zod-openapi'
import { current } from '../../http/lag-headers.ts'
import { body, json, newApp, refusals } from '../../http/new-app.ts'
import type { Services } from '../services.ts'
import { checkRuns } from './check-policy.ts'
import { CheckPolicy, PolicyChecked } from './schemas.ts'

const check = createRoute({
  method: 'post',
  path: '/v1/policy/check',
  operationId: 'checkPolicy',
  summary: 'Which recorded calls another policy or role would have refused or asked about; nothing is performed',
  request: { body: body(CheckPolicy) },
  responses: { 200: json(PolicyChecked, 'The calls'), ...refusals },
})

export function policyCheckRoutes(s: Services) {
  return newApp().openapi(check, async (c) => {
    await current(c, s)
    return c.json(await checkRuns(s, c.req.valid('json')), 200)
  })
}
