import { z } from 'zod'
import { nextLosses, placeOf } from '../../courier/ledger.ts'
import { messageId } from '../../log/ids.ts'
import { NAME_LENGTH, payloadFault, recipientFault, recipientOf } from '../state/message-limits.ts'
import { controlTool, nonBlank } from './control-tool.ts'

const schema = z.strictObject({
  to: nonBlank
    .max(NAME_LENGTH)
    .describe('The agent: the id that a message came from, "parent" or "root"; or a person, as user:<id>.'),
  payload: z.json().describe('Any JSON value.'),
  topic: nonBlank.max(NAME_LENGTH).optional().describe('What it is about.'),
  expectReply: z.boolean().optional().describe('Wait for the answer, for 30 s at most.'),
})

/** With `expectReply` the call ends when the answer arrives, becomes impossible, or times out. */
export const sendMessage = controlTool({
  name: 'send_message',
  description:
    'Sends a message to another agent of this run, which reads it at its next turn. You are told if it cannot be delivered.',
  schema,
  kind: 'continues',
  needsTools: true,
  refusal: (state, { to, payload, expectReply = false }) =>
    recipientFault(state, to, expectReply) ?? payloadFault(payload),
  decide: (state, _, { to, payload, topic, expectReply = false }) => {
    const about = topic === undefined ? {} : { topic }
    const type = expectReply ? 'request' : 'event'
    const sent = { ...nextLosses(state), to: recipientOf(state, to), type, payload, ...about } as const
    const end = expectReply ? null : { content: { sent: messageId(state.agentId, placeOf(state, state.revision + 1)) } }
    return { events: [{ type: 'message_sent', body: sent }], end }
  },
})
