import { createHmac, hash } from 'node:crypto'
import { canonicalText } from './canonical.ts'

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'

/** Lower-case Crockford base32, five bits a character, most significant first. */
export function base32(bytes: Uint8Array): string {
  let out = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      out += CROCKFORD[(held >> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return bits > 0 ? out + CROCKFORD[(held << (5 - bits)) & 31] : out
}

/** A run id: 48 bits of time in ms, then `entropy` (8 bytes); sorts by creation. The root agent has the same id. */
export function runIdOf(nowMs: number, entropy: Uint8Array): string {
  const bytes = new Uint8Array(6 + entropy.length)
  for (let i = 5, t = nowMs; i >= 0; i--, t = Math.floor(t / 256)) bytes[i] = t % 256
  bytes.set(entropy, 6)
  return base32(bytes)
}

/** A tool call's id. It derives from agent, turn and index, so a replay gives the same id. */
export function toolCallId(agentId: string, turn: number, index: number): string {
  return `${agentId}.t${turn}.c${index}`
}

/** The id of the agent that a call delegates to. It derives from the call, so a retry finds the same child. */
export function childAgentId(callId: string): string {
  return base32(hash('sha256', `child of ${callId}`, 'buffer').subarray(0, 15))
}

/** The id of an attempt of an agent spawned under a name. After a crash it finds the agent that already started. */
export function spawnedRunId(store: string, name: string, attempt: number): string {
  return base32(hash('sha256', `spawned ${canonicalText([store, name, attempt])}`, 'buffer').subarray(0, 15))
}

/**
 * The id of the run that a trace of OTLP becomes. Every report finds the same run, but only those of the same sender: a
 * trace id is no secret, and another principal must not change the run.
 */
export function reportedRunId(sender: string, traceId: string): string {
  return base32(hash('sha256', `reported trace ${canonicalText([sender, traceId])}`, 'buffer').subarray(0, 15))
}

/**
 * The id of a run that a program hosts under a name. The ids of one scope, such as a project, begin with
 * {@link hostedScope}.
 */
export function hostedRunId(kind: string, scope: string, name: string): string {
  return (
    hostedScope(kind, scope) +
    base32(hash('sha256', `hosted ${canonicalText([kind, scope, name])}`, 'buffer').subarray(0, 10))
  )
}

export const hostedScope = (kind: string, scope: string): string =>
  base32(hash('sha256', `hosts of ${canonicalText([kind, scope])}`, 'buffer').subarray(0, 10))

/** The id of the document that a call creates. It derives from the call, so a retry finds the same document. */
export function documentOfCall(callId: string): string {
  return base32(hash('sha256', `document of ${callId}`, 'buffer').subarray(0, 15))
}

/**
 * A message's id: the agent in whose stream it was first recorded, and its revision there. `losses`: how often that
 * stream had lost its end before; a lost message may have had the same revision.
 */
export function messageId(
  agentId: string,
  { revision, losses }: { revision: number; losses?: number | undefined },
): string {
  return `${agentId}.m${revision}${losses === undefined ? '' : `+${losses}`}`
}

/** The id of a turn's model call. All attempts share it. */
export function modelCallId(agentId: string, turn: number): string {
  return `${agentId}.t${turn}.model`
}

/** The id of one attempt of an effect. It is also the commandId of the effect's outcome. */
export function effectId(callId: string, attempt: number): string {
  return `${callId}#${attempt}`
}

/**
 * The commandId of a request with an Idempotency-Key: `key:`, an HMAC of the key and an HMAC of the request. Both may
 * contain personal data, and headers are never erased. The HMAC of the key is salted with the log id, so a table made
 * for another log reveals nothing; the HMAC of the request needs the key. `asked`: JSON.
 */
export function keyedCommand(logId: string, key: string, asked: unknown): string {
  const told = canonicalText(JSON.parse(JSON.stringify(asked)))
  return `${keyFor(logId, key)}:${mac(`${logId}\n${key}`, told)}`
}

/** The prefix of a keyed commandId that identifies its key. */
export const keyFor = (logId: string, key: string): string => `${KEYED}${mac(logId, key)}`

const KEYED = 'key:'
const MAC_LENGTH = 32
const mac = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex').slice(0, MAC_LENGTH)

/** Whether the request had an Idempotency-Key. */
export const isKeyed = (commandId: string): boolean => commandId.startsWith(KEYED)

/** The prefix of a keyed commandId that identifies its key; null for a command without a key. */
export const keyOf = (commandId: string): string | null =>
  isKeyed(commandId) ? commandId.slice(0, KEYED.length + MAC_LENGTH) : null

/** The stream of a run of an external agent, without the namespace. */
export const externalStream = (agentId: string): string => `external-${agentId}`

/** The stream of an agent, without the namespace. */
export function agentStream(agentId: string): string {
  return `agent-${agentId}`
}

/** The stream whose first event is the log's identity. */
export const LOG_META = 'log-meta'

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Hex SHA-256 of a salt (hex) and a text (UTF-8), or bytes. */
export const saltedHash = (salt: string, content: string | Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from(salt, 'hex'), Buffer.from(content)]))

/** Hex SHA-256 of text (UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data)
}
