import { z } from 'zod'
import { nextLosses, placeOf } from '../../courier/ledger.ts'
import { messageId } from '../../log/ids.ts'
import { instantText } from '../../log/instant.ts'
import { subscribersOf } from '../state/message-bus.ts'
import { NAME_LENGTH, payloadFault } from '../state/message-limits.ts'
import { controlTool, nonBlank } from './control-tool.ts'

const schema = z.strictObject({
  topic: nonBlank.max(NAME_LENGTH).describe('Its subscribers receive the message.'),
  payload: z.json().describe('Any JSON value.'),
})

/**
 * The root of the run distributes publications: its own at once, those of other agents when the courier delivers them.
 */
export const publish = controlTool({
  name: 'publish',
  description: 'Sends a message to every agent of this run that has subscribed to the topic.',
  schema,
  kind: 'continues',
  needsTools: true,
  refusal: (_, { payload }) => payloadFault(payload),
  decide: (state, _, { topic, payload }) => {
    const id = messageId(state.agentId, placeOf(state, state.revision + 1))
    const end = { content: { published: id } }
    if (state.parent !== null)
      return { events: [{ type: 'message_published', body: { ...nextLosses(state), topic, payload } }], end }
    const to = [...subscribersOf(state.bus, topic, state.agentId)]
    const sentAt = instantText(state.at)
    const body = { id, from: state.agentId, topic, payload, sentAt, to }
    return { events: [{ type: 'message_distributed', body }], end }
  },
})
