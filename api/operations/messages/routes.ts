import { createRoute } from '@hono/zod-openapi'
import { current } from '../../http/lag-headers.ts'
import { body, json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { CommandHeaders, optionsOf } from '../headers.ts'
import { PageQuery } from '../schemas.ts'
import type { Services } from '../services.ts'
import * as schema from './schemas.ts'
import { listMessages, publish, respond, sendMessage } from './send.ts'

const sent = { 200: json(schema.Sent, 'Recorded'), ...refusals }

const list = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/messages',
  operationId: 'listMessages',
  summary: 'Messages between the agents of a run and people, the first one first, and what became of each',
  description:
    'To follow them: GET /v1/events?run={id}&type=message_sent,message_published,message_received,message_distributed.',
  request: { params: RunId, query: PageQuery },
  responses: { 200: json(schema.MessageList, 'A page of messages'), ...refusals },
})

const send = createRoute({
  method: 'post',
  path: '/v1/runs/{id}/messages',
  operationId: 'sendMessage',
  summary: 'Send a message, or a request, to an agent of a run; it is read at its next turn',
  request: { params: RunId, headers: CommandHeaders, body: body(schema.SendMessageBody) },
  responses: sent,
})

const toTopic = createRoute({
  method: 'post',
  path: '/v1/runs/{id}/publications',
  operationId: 'publishMessage',
  summary: 'Send a message to every agent of a run that has subscribed to a topic',
  request: { params: RunId, headers: CommandHeaders, body: body(schema.PublishBody) },
  responses: sent,
})

const answer = createRoute({
  method: 'post',
  path: '/v1/messages/{id}/respond',
  operationId: 'respondToMessage',
  summary: 'Answer the request of an agent that waits for it',
  request: { params: RunId, headers: CommandHeaders, body: body(schema.RespondBody) },
  responses: sent,
})

export function messageRoutes(s: Services) {
  return newApp()
    .openapi(list, async (c) => {
      await current(c, s)
      const { limit, after } = c.req.valid('query')
      return c.json(await listMessages(s, c.req.valid('param').id, { limit, after }), 200)
    })
    .openapi(send, async (c) => {
      const options = optionsOf(c.req.valid('header'))
      return c.json(await sendMessage(s, c.req.valid('param').id, c.req.valid('json'), options), 200)
    })
    .openapi(toTopic, async (c) => {
      const options = optionsOf(c.req.valid('header'))
      return c.json(await publish(s, c.req.valid('param').id, c.req.valid('json'), options), 200)
    })
    .openapi(answer, async (c) => {
      const options = optionsOf(c.req.valid('header'))
      return c.json(await respond(s, c.req.valid('param').id, c.req.valid('json'), options), 200)
    })
}
