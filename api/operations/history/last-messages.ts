import type { JsonObject } from '../../../domain/log/json.ts'

/** How many messages of a state a model gets. */
const MESSAGES = 4

/** A state with its last messages only, and without its settings. `earlier`: how many messages are left out. */
export function lastMessages({ spec: _, ...answer }: JsonObject): JsonObject {
  const { messages, ...state } = (answer.state ?? {}) as JsonObject
  if (!Array.isArray(messages)) return answer
  const earlier = Math.max(0, messages.length - MESSAGES)
  return { ...answer, state: { ...state, earlier, messages: messages.slice(earlier) }, cut: true }
}
