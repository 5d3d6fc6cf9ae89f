import { z } from 'zod'
import { canonicalBytes } from './canonical.ts'
import { FORMAT, READER, type SealedEvent } from './envelope.ts'
import { LogError } from './errors.ts'
import { base32, LOG_META } from './ids.ts'
import { GENESIS, saltBody, seal, unsalted } from './seal.ts'

// Storage format: the first event of every log.

export const LOG_CREATED = 'log_created'

export const LogCreated = z.strictObject({
  logId: z.string().regex(/^[0-9a-z]{16}$/),
  format: z.int().positive(),
})

/**
 * Seals the identity of a new log: the first event of `log-meta`. `random`: 26 random bytes; ten become the id (16
 * base32 characters), sixteen the salt. `timestamp`: ISO 8601 with milliseconds. `logId`: the id to keep when a log has
 * lost its first event.
 */
export function sealIdentity(
  random: Uint8Array,
  timestamp: string,
  logId = base32(random.subarray(0, 10)),
): SealedEvent {
  const body = saltBody(canonicalBytes({ logId, format: FORMAT }), random.subarray(10, 26))
  return seal(
    GENESIS,
    {
      format: FORMAT,
      stream: LOG_META,
      type: LOG_CREATED,
      version: 1,
      turn: 0,
      revision: 0,
      timestamp,
      commandId: LOG_CREATED,
      actor: { kind: 'system', id: 'log' },
      minReader: READER,
      body: body.header,
    },
    body.bytes,
  )
}

/** The log id in a log's first event. Throws `LOG_CORRUPT` when the event is not an identity. */
export function logIdOf(event: SealedEvent | undefined): string {
  if (event?.header.type === LOG_CREATED && event.body) {
    const parsed = LogCreated.safeParse(parseJson(unsalted(event.body)))
    if (parsed.success) return parsed.data.logId
  }
  throw new LogError(
    'LOG_CORRUPT',
    `the log has no identity: ${LOG_META} does not begin with ${LOG_CREATED}; restore it`,
  )
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
