import { z } from 'zod'
import { CommandHeaders } from '../headers.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { operation } from '../operation.ts'
import { recordCommand } from '../runs/record-command.ts'
import { actorOf } from '../runs/request-options.ts'
import { Digits, Id, Recorded } from '../schemas.ts'
import { contextView } from './context-view.ts'
import { SentRequests } from './request-schemas.ts'
import { ContextView, ExpandBody } from './schemas.ts'
import { sentRequests } from './sent-requests.ts'

const query = z.strictObject({ agent: Id.optional() })

/** The context of an agent, and the requests that models were sent. */
export const WINDOW_OPERATIONS = [
  operation({
    name: 'getContext',
    http: 'GET /v1/runs/{id}/context',
    right: 'bodies.read',
    summary: 'What the next request shows of the messages: ranges, tokens, summary and knowledge',
    input: { params: z.object({ id: Id }), query },
    output: ContextView,
    answers: { 200: 'The context' },
    run: (s, { params: { id }, query: { agent = id } }) => contextView(s, id, agent),
  }),
  operation({
    name: 'expandContext',
    http: 'POST /v1/runs/{id}/context/expand',
    right: 'runs.steer',
    summary: 'Show hidden turns again in the next request, as far as they fit',
    input: { params: z.object({ id: Id }), headers: CommandHeaders, body: ExpandBody },
    output: Recorded,
    answers: { 200: 'Recorded' },
    revision: ({ revision }) => revision,
    run: (s, { params: { id }, body: { agent = id, turns, by } }, { options }) => {
      const command = omitUndefined({ kind: 'expand_context' as const, turns })
      return recordCommand(s, { agentId: agent, command, actor: actorOf('user', by, options), options, drive: 'no' })
    },
  }),
  operation({
    name: 'getModelRequests',
    http: 'GET /v1/runs/{id}/turns/{turn}/request',
    right: 'bodies.read',
    summary: 'What the model was sent in a turn, attempt by attempt, put together from the log',
    description:
      'Turn 0 has the requests for summaries, which are made between turns. Messages, prompt, tools and parameters are checked against the hash that the log recorded. `body` is not: the process ' +
      'that answers makes it from them with its own settings for the provider (such as `OPENAI_BASE_URL`), which may differ ' +
      'from those of the process that sent it.',
    input: { params: z.object({ id: Id, turn: Digits.pipe(z.int()) }), query },
    output: SentRequests,
    answers: { 200: 'The requests' },
    run: (s, { params: { id, turn }, query: { agent = id } }) => sentRequests(s, id, agent, turn),
  }),
] as const
