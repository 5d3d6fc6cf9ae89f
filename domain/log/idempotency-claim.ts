import { canonicalBytes } from './canonical.ts'
import { FORMAT, READER, type SealedEvent } from './envelope.ts'
import { base32, keyOf } from './ids.ts'
import { GENESIS, saltBody, seal } from './seal.ts'

// Storage format: the only event of a stream `key-<id>`, which binds an Idempotency-Key to its first request.

export const KEY_CLAIMED = 'key_claimed'

/** The stream of the key in a keyed commandId (see `keyedCommand`). Keys of different logs have different streams. */
export const keyStream = (commandId: string): string =>
  `key-${base32(Buffer.from(keyOf(commandId)!.replace(/^\w+:/, ''), 'hex'))}`

/** Seals a claim. `salt`: 16 random bytes; `timestamp`: ISO 8601 with milliseconds. */
export function sealKeyClaim(commandId: string, salt: Uint8Array, timestamp: string): SealedEvent {
  const body = saltBody(canonicalBytes({}), salt)
  return seal(
    GENESIS,
    {
      format: FORMAT,
      stream: keyStream(commandId),
      type: KEY_CLAIMED,
      version: 1,
      turn: 0,
      revision: 0,
      timestamp,
      commandId,
      actor: { kind: 'system', id: 'log' },
      minReader: READER,
      body: body.header,
    },
    body.bytes,
  )
}
