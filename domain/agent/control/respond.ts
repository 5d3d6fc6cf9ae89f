import { z } from 'zod'
import { nextLosses } from '../../courier/ledger.ts'
import { echo } from '../../log/issues.ts'
import { payloadFault } from '../state/message-limits.ts'
import type { AgentState } from '../state/state.ts'
import { controlTool, nonBlank } from './control-tool.ts'

const schema = z.strictObject({
  request: nonBlank.describe('The id of the request, as its message names it.'),
  payload: z.json().describe('The answer: any JSON value.'),
})

const openRequest = ({ bus, at }: AgentState, request: string) =>
  bus.requests.find(({ id, until }) => id === request && until > at)

export const respond = controlTool({
  name: 'respond',
  description: 'Answers a request that another agent has sent to you and waits for.',
  schema,
  kind: 'continues',
  needsTools: true,
  refusal: (state, { request, payload }) =>
    openRequest(state, request) === undefined ? notOpen(request) : payloadFault(payload),
  decide: (state, _, { request, payload }) => {
    // The request may have expired since the call was judged.
    const open = openRequest(state, request)
    if (open === undefined) return { events: [], end: { error: { code: 'CONFLICT', message: notOpen(request) } } }
    const body = { ...nextLosses(state), to: open.from, type: 'response', payload, correlationId: open.id } as const
    return { events: [{ type: 'message_sent', body }], end: { content: { answered: open.id } } }
  },
})

const notOpen = (request: string) =>
  `request: nothing waits for an answer to ${echo(request)}; it was answered, or its sender has stopped waiting: use send_message`
