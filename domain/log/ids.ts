import { hash } from 'node:crypto'

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'

/** Lower-case Crockford base32 of some bytes, five bits a character, most significant first. */
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

/** A run id: 48 bits of time in ms, then `entropy` (8 bytes); sorts by birth. The root agent bears the same id. */
export function runIdOf(nowMs: number, entropy: Uint8Array): string {
  const bytes = new Uint8Array(6 + entropy.length)
  for (let i = 5, t = nowMs; i >= 0; i--, t = Math.floor(t / 256)) bytes[i] = t % 256
  bytes.set(entropy, 6)
  return base32(bytes)
}

/** A tool call's id: stable under replay, because it derives from agent, turn and index (CONTRACTS: 5.9.1). */
export function toolCallId(agentId: string, turn: number, index: number): string {
  return `${agentId}.t${turn}.c${index}`
}

/** The id of a turn's model call; attempts are told apart by their number. */
export function modelCallId(agentId: string, turn: number): string {
  return `${agentId}.t${turn}.model`
}

/** An effect's id: what is performed, and which attempt. It is the commandId of the effect's outcome. */
export function effectId(callId: string, attempt: number): string {
  return `${callId}#${attempt}`
}

/** The commandId of a request that came with an Idempotency-Key: people put anything into keys, so only a hash is kept. */
export function keyedCommand(key: string): string {
  return `${KEYED}${sha256(key).slice(0, 32)}`
}
const KEYED = 'key:'

/** Did the command come with an Idempotency-Key? */
export const isKeyed = (commandId: string): boolean => commandId.startsWith(KEYED)

/** The stream of an agent, without the namespace. */
export function agentStream(agentId: string): string {
  return `agent-${agentId}`
}

/** The stream whose first event is the log's identity. */
export const LOG_META = 'log-meta'

/** Lower-case hex of some bytes. */
export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Hex SHA-256 of text (UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data)
}
