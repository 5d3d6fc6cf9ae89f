import { z } from 'zod'
import { CommandHeaders } from '../headers.ts'
import { operation } from '../operation.ts'
import { Id, PageQuery } from '../schemas.ts'
import * as schema from './schemas.ts'
import { listMessages, publishPersonMessage, respondAsPerson, sendPersonMessage } from './send.ts'

const params = z.object({ id: Id })
const headers = CommandHeaders

/** Messages between the agents of a run and people. */
export const MESSAGE_OPERATIONS = [
  operation({
    name: 'listMessages',
    http: 'GET /v1/runs/{id}/messages',
    right: 'bodies.read',
    summary: 'Messages between the agents of a run and people, the first one first, and what became of each',
    description:
      'To follow them: GET /v1/events?run={id}&type=message_sent,message_published,message_received,message_distributed.',
    input: { params, query: PageQuery },
    output: schema.MessageList,
    answers: { 200: 'A page of messages' },
    awaitsTables: true,
    run: (s, { params, query }) => listMessages(s, params.id, query),
  }),
  operation({
    name: 'sendMessage',
    http: 'POST /v1/runs/{id}/messages',
    right: 'runs.steer',
    summary: 'Send a message, or a request, to an agent of a run; it is read at its next turn',
    input: { params, headers, body: schema.SendMessageBody },
    output: schema.Sent,
    answers: { 200: 'Recorded' },
    run: (s, { params, body }, { options }) => sendPersonMessage(s, params.id, body, options),
  }),
  operation({
    name: 'publishMessage',
    http: 'POST /v1/runs/{id}/publications',
    right: 'runs.steer',
    summary: 'Send a message to every agent of a run that has subscribed to a topic',
    input: { params, headers, body: schema.PublishBody },
    output: schema.Sent,
    answers: { 200: 'Recorded' },
    run: (s, { params, body }, { options }) => publishPersonMessage(s, params.id, body, options),
  }),
  operation({
    name: 'respondToMessage',
    http: 'POST /v1/messages/{id}/respond',
    right: 'runs.steer',
    summary: 'Answer the request of an agent that waits for it',
    input: { params, headers, body: schema.RespondBody },
    output: schema.Sent,
    answers: { 200: 'Recorded' },
    run: (s, { params, body }, { options }) => respondAsPerson(s, params.id, body, options),
  }),
] as const
