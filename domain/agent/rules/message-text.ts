import type { Json } from '../../log/json.ts'

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
