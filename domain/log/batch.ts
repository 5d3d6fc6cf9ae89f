import type { SealedEvent } from './envelope.ts'
import { LogError } from './errors.ts'
import { headerFault } from './header.ts'
import { SALT_BYTES, sealedAfter } from './seal.ts'

/** The maximum size of an append's inline bodies, in bytes. */
export const MAX_APPEND_BYTES = 16 * 1024 * 1024

const invalid = (message: string) => new LogError('APPEND_INVALID', message)

/**
 * Checks the shape of a batch to append to `stream` after revision `expected`. Every adapter calls this before its
 * first write. `checkChain` checks the hashes. Throws `APPEND_INVALID` or `APPEND_TOO_LARGE`.
 */
export function checkBatch(stream: string, expected: number, batch: readonly SealedEvent[]): void {
  if (batch.length === 0) throw invalid(`an append to ${stream} holds no event; append at least one`)
  if (!Number.isSafeInteger(expected) || expected < -1)
    throw invalid(`expected revision ${expected} of ${stream} is none; use -1 for a stream that does not exist`)
  let bytes = 0
  let time = ''
  for (const [index, event] of batch.entries()) {
    const fault = headerFault(event.header) ?? placeFault(event, stream, expected + 1 + index, time)
    if (fault !== null) throw invalid(`event ${index} of an append to ${stream}: ${fault}`)
    time = event.header.timestamp
    bytes += event.body?.length ?? 0
  }
  if (bytes > MAX_APPEND_BYTES)
    throw new LogError(
      'APPEND_TOO_LARGE',
      `an append to ${stream} holds ${bytes} bytes, more than ${MAX_APPEND_BYTES}; put large bodies into the blob store`,
    )
}

/** Says why an event does not fit its stream, its revision or the timestamp before it; null when it fits. */
function placeFault(event: SealedEvent, stream: string, revision: number, after: string): string | null {
  const { header, body } = event
  if (header.stream !== stream) return `it was sealed for stream ${header.stream}; append it there`
  // An event sealed in this process has a well-formed hash and id.
  if (sealedAfter(event) === undefined && !(HEX32.test(event.hash) && ID.test(event.id)))
    return 'it has no well-formed hash and id; seal it'
  if (header.revision !== revision)
    return `it has revision ${header.revision}, not ${revision}; seal it for its own place`
  if (header.timestamp < after) return 'it is older than the event before it; clamp times when sealing'
  if (header.body.place === 'blob' ? body !== null : body?.length !== SALT_BYTES + header.body.size)
    return `the body is not what its header says (${header.body.place}, ${header.body.size} bytes)`
  return null
}

const HEX32 = /^[0-9a-f]{64}$/
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
