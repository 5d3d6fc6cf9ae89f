import { byteLength, RESULT_BYTES } from '../../calls/bounded.ts'
import { canonicalText } from '../../log/canonical.ts'
import { echo } from '../../log/issues.ts'
import type { Json } from '../../log/json.ts'
import { isPerson } from '../../tree/messages.ts'
import type { AgentState } from './state.ts'

// Rules of the message bus (RuntimeMessageBus): limits of a message, and the text that its recipient reads.

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

interface Heading {
  readonly id: string
  readonly from: string
  readonly type: 'request' | 'response' | 'event'
  readonly topic?: string | undefined
  readonly correlationId?: string | undefined
  readonly refused?: string | undefined
}

/** A message as the recipient's model reads it. */
export function busMessageText({ id, from, type, topic, correlationId, refused }: Heading, payload: Json): string {
  const about = topic === undefined ? '' : `, topic ${JSON.stringify(topic)}`
  const on = correlationId === undefined ? '' : ` to request ${correlationId}`
  const how = type === 'request' ? `. It waits for your answer: call respond with request ${JSON.stringify(id)}` : ''
  const what = refused === undefined ? textOf(payload) : `It will not be answered: ${refused}`
  return `[${type === 'event' ? 'Message' : type === 'request' ? 'Request' : 'Response'} ${id} from ${from}${on}${about}${how}]\n${what}`
}

const textOf = (payload: Json): string => (typeof payload === 'string' ? payload : JSON.stringify(payload))

export const bouncedText = (id: string, to: string, reason: string): string =>
  `[Your message ${id} to ${to} was not delivered]\n${reason}`
