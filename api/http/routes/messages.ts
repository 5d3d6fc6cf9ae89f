import { createRoute } from '@hono/zod-openapi'
import { mustBeRun } from '../../app/runs/known.ts'
import { sendMessage } from '../../app/runs/send-message.ts'
import { PageQuery, Recorded } from '../../app/schemas/common.ts'
import { MessageBody, MessageList } from '../../app/schemas/messages.ts'
import type { Services } from '../../app/services.ts'
import { current } from '../current.ts'
import { CommandHeaders, optionsOf } from '../headers.ts'
import { body, json, newApp, RunId, refusals } from '../new-app.ts'

const list = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/messages',
  operationId: 'listMessages',
  summary: 'Messages between the agents of a run, in the order in which they were recorded',
  description:
    'To follow them: GET /v1/events?run={id}; the events message_sent, message_received and message_distributed.',
  request: { params: RunId, query: PageQuery },
  responses: { 200: json(MessageList, 'A page of messages'), ...refusals },
})

const send = createRoute({
  method: 'post',
  path: '/v1/runs/{id}/messages',
  operationId: 'sendMessage',
  summary: 'Send a message to an agent of a run, or publish one to a topic',
  request: { params: RunId, headers: CommandHeaders, body: body(MessageBody) },
  responses: { 200: json(Recorded, 'Recorded'), ...refusals },
})

export function messageRoutes(s: Services) {
  return newApp()
    .openapi(list, async (c) => {
      const { id } = c.req.valid('param')
      await mustBeRun(s, id)
      await current(c, s)
      const { limit, after } = c.req.valid('query')
      const { position, value } = await s.read.messages(id, { limit, ...(after === undefined ? {} : { after }) })
      return c.json({ position, ...value }, 200)
    })
    .openapi(send, async (c) => {
      const options = optionsOf(c.req.valid('header'))
      const done = await sendMessage(s, c.req.valid('param').id, c.req.valid('json'), options)
      return c.json(done, 200, { ETag: `"${done.revision}"` })
    })
}
