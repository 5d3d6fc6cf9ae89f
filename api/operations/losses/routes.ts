import { createRoute, z } from '@hono/zod-openapi'
import { body, json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { CommandHeaders, optionsOf } from '../headers.ts'
import { mustWrite, record } from '../runs/record-command.ts'
import { actorOf } from '../runs/request-options.ts'
import { Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { acceptedLosses } from './accepted.ts'
import { type Loss, lossText } from './loss.ts'
import { AcceptLossBody, LossAccepted, LossReport, ReleaseCallsBody } from './schemas.ts'

const look = createRoute({
  method: 'get',
  path: '/v1/losses',
  operationId: 'getLosses',
  summary: 'Whether the log has lost anything that its mark or the tables have seen',
  request: {
    query: z.strictObject({
      all: z
        .enum(['true', 'false'])
        .default('false')
        .openapi({ description: 'true: hold every stream and every position against what was seen of it' }),
    }),
  },
  responses: { 200: json(LossReport, 'What is missing'), ...refusals },
})

const accept = createRoute({
  method: 'post',
  path: '/v1/losses/accept',
  operationId: 'acceptLoss',
  summary: 'Accept what the log has lost: runs may go on, and calls that began in the lost part are unknown outcomes',
  request: { body: body(AcceptLossBody) },
  responses: { 200: json(LossAccepted, 'Recorded'), ...refusals },
})

const release = createRoute({
  method: 'post',
  path: '/v1/runs/{id}/release-calls',
  operationId: 'releaseCalls',
  summary: 'Let irreversible calls of a run begin again, although the lost part may have held others than are known',
  request: { params: RunId, headers: CommandHeaders, body: body(ReleaseCallsBody) },
  responses: { 200: json(Recorded, 'Recorded'), ...refusals },
})

const shown = (loss: Loss | null) => loss && { ...loss, message: lossText(loss) }

export function lossRoutes(s: Services) {
  return newApp()
    .openapi(look, async (c) => {
      const { open } = s.losses
      if (c.req.valid('query').all === 'false') return c.json({ open: open !== null, loss: shown(open) }, 200)
      const loss = await s.losses.look()
      return c.json({ open: open !== null, loss: shown(loss), accepted: await acceptedLosses(s) }, 200)
    })
    .openapi(accept, async (c) => {
      mustWrite(s)
      const { id, by, reason } = c.req.valid('json')
      const done = await s.losses.accept(id, actorOf('user', by), reason)
      const { loss = null, runs = [], unreadable = [] } = done ?? {}
      return c.json({ loss: shown(loss), runs, unreadable }, 200)
    })
    .openapi(release, async (c) => {
      const { by, reason } = c.req.valid('json')
      const command = { kind: 'release_loss', ...(reason === undefined ? {} : { reason }) } as const
      const asked = { agentId: c.req.valid('param').id, command, actor: actorOf('user', by) }
      return c.json(await record(s, { ...asked, options: optionsOf(c.req.valid('header')), drive: 'no' }), 200)
    })
}
