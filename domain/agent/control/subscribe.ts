import { z } from 'zod'
import { MAX_TOPICS, topicsOf } from '../state/message-bus.ts'
import { NAME_LENGTH } from '../state/message-limits.ts'
import { controlTool, nonBlank } from './control-tool.ts'

const schema = z.strictObject({
  topic: nonBlank.max(NAME_LENGTH).describe('Messages that are published to it from now on are shown to you.'),
})

/** The root agent keeps all subscriptions of the run. The courier brings it the subscriptions of the other agents. */
export const subscribe = controlTool({
  name: 'subscribe',
  description: 'Receives what other agents of this run publish to a topic, at the start of your turns.',
  schema,
  kind: 'continues',
  needsTools: true,
  decide: (state, _, { topic }) => {
    const end = { content: `subscribed to ${JSON.stringify(topic)}` }
    if (topicsOf(state.bus, state.agentId) >= MAX_TOPICS) return { events: [], end: { error: TOO_MANY } }
    if (state.parent !== null) return { events: [{ type: 'topic_subscribed', body: { topic } }], end }
    return { events: [{ type: 'subscription_added', body: { agentId: state.agentId, topic } }], end }
  },
})

const TOO_MANY = {
  code: 'CONFLICT',
  message: `topic: an agent hears at most ${MAX_TOPICS} topics; agree with the others on one of those that you hear`,
} as const
