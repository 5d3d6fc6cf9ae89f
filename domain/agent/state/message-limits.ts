import { byteLength, RESULT_BYTES } from '../../calls/truncate.ts'
import { canonicalText } from '../../log/canonical.ts'
import { echo } from '../../log/issues.ts'
import type { Json } from '../../log/json.ts'
import { isPerson } from '../../tree/message-events.ts'
import type { AgentState } from './state.ts'

// Limits of messages between agents (RuntimeMessageBus): size, names, recipients, and room before the next turn.

/** The longest payload as JSON text, in UTF-8 bytes. The recipient's model reads all of it. */
export const MESSAGE_BYTES = RESULT_BYTES
/** The longest topic or recipient name, in characters. */
export const NAME_LENGTH = 256

/**
 * Bytes of unread messages per token of the shortest context among the agent's models. Compression keeps the last three
 * turns whole, so a larger share per turn would leave no room for an answer.
 */
const UNREAD_BYTES_PER_TOKEN = 3 / 8

/** Why an agent accepts no more messages before its next turn, or null. The first unread message is always accepted. */
export function whyNoRoom({ unread, context: { bytes }, spec: { models } }: AgentState, payload: Json): string | null {
  const room = UNREAD_BYTES_PER_TOKEN * Math.min(...models.known.map(({ contextTokens }) => contextTokens))
  if (unread === 0 || bytes + byteLength(canonicalText(payload)) <= room) return null
  return `it was not taken, because ${bytes} bytes wait for the next turn of its recipient already; send less, or write it to a file and name that`
}

export function payloadFault(payload: Json): string | null {
  const bytes = byteLength(canonicalText(payload))
  if (bytes <= MESSAGE_BYTES) return null
  return `payload: a message has at most ${MESSAGE_BYTES} bytes, not ${bytes}; write the rest to a file and name it`
}

/** The agent or person that a name refers to. `parent` and `root` are relative to the sender. */
export function recipientOf({ parent, runId }: Pick<AgentState, 'parent' | 'runId'>, to: string): string {
  if (to === 'root') return runId
  return to === 'parent' && parent !== null ? parent.agentId : to
}

const AGENT_ID = /^[a-z0-9][a-z0-9._-]{0,127}$/i
const PERSON = /^user:[^\s\p{C}]{1,128}$/u

/** Why nothing can be sent to this recipient, or null. */
export function recipientFault(state: AgentState, name: string, awaits: boolean): string | null {
  const to = recipientOf(state, name)
  if (to === state.agentId) return 'to: an agent sends itself no messages'
  if (name === 'parent' && state.parent === null) return 'to: the root of a run has no parent'
  if (isPerson(to)) return PERSON.test(to) ? null : `to: ${echo(to)} names no person; write user:<id>`
  if (!AGENT_ID.test(to))
    return `to: ${echo(to)} is no id of an agent; give the id that a message came from, "parent" or "root"`
  const { parent } = state
  const above = parent !== null && (parent.agentId === to || (parent.ancestors ?? []).includes(to))
  return awaits && above
    ? `to: ${echo(to)} waits for you, so that it cannot answer; send the message without expectReply, or put the question into your result`
    : null
}
