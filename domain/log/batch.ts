import type { Erasure } from '../ports.ts'
import { Header, type SealedEvent } from './envelope.ts'
import { LogError } from './errors.ts'
import { chainHash, eventId, GENESIS } from './seal.ts'

/** The most bytes of inline bodies that one append may hold. */
export const MAX_APPEND_BYTES = 16 * 1024 * 1024

/** The type of the fact that a body was emptied (CONTRACTS 6; DESIGN, Erasure). */
export const ERASED = 'erased'

const invalid = (message: string) => new LogError('APPEND_INVALID', message)

// A control character or a lone surrogate would not come back from every store as it went in.
const UNSTORABLE = /[\u0000-\u001f\u007f]|\p{Surrogate}/u

/**
 * Checks the shape of a batch that is to stand after revision `expected` of `stream`: what every adapter refuses before
 * it writes anything. Hashes are left to {@link checkChain}.
 * Throws `APPEND_INVALID` or `APPEND_TOO_LARGE`.
 */
export function checkBatch(stream: string, expected: number, batch: readonly SealedEvent[]): void {
  if (batch.length === 0) throw invalid(`an append to ${stream} holds no event; append at least one`)
  if (!Number.isSafeInteger(expected) || expected < -1)
    throw invalid(`expected revision ${expected} of ${stream} is none; use -1 for a stream that does not exist`)
  let bytes = 0
  let time = ''
  for (const [index, event] of batch.entries()) {
    const { header, body } = event
    const at = `event ${index} of an append to ${stream}`
    checkHeader(header, at)
    if (header.stream !== stream) throw invalid(`${at} was sealed for stream ${header.stream}; append it there`)
    if (header.revision !== expected + 1 + index)
      throw invalid(`${at} has revision ${header.revision}, not ${expected + 1 + index}; seal it for its own place`)
    if (header.timestamp < time) throw invalid(`${at} is older than the event before it; clamp times when sealing`)
    time = header.timestamp
    if (header.body.place === 'blob' ? body !== null : body?.length !== header.body.size)
      throw invalid(`${at}: the body is not what its header says (${header.body.place}, ${header.body.size} bytes)`)
    bytes += body?.length ?? 0
  }
  if (bytes > MAX_APPEND_BYTES)
    throw new LogError(
      'APPEND_TOO_LARGE',
      `an append to ${stream} holds ${bytes} bytes, more than ${MAX_APPEND_BYTES}; put large bodies into the blob store`,
    )
}

function checkHeader(header: Header, at: string): void {
  const parsed = Header.safeParse(header)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw invalid(`${at}: header ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is malformed'}`)
  }
  const { actor, driver, body } = header
  const texts = [header.stream, header.type, header.runId, header.agentId, header.commandId, actor.id, driver?.id]
  texts.push(header.correlationId, header.causationId, header.toolCallId, header.trace, body.mediaType)
  texts.push(body.cipher?.alg, body.cipher?.keyId, body.cipher?.nonce)
  for (const text of texts)
    if (text !== undefined && UNSTORABLE.test(text))
      throw invalid(
        `${at}: header text ${JSON.stringify(text.slice(0, 80))} holds a control character or lone surrogate`,
      )
}

/**
 * Checks that each event's hash and id follow from the hash before it, from `previous` on (hex; GENESIS at the start of
 * a stream). Returns the last hash. Throws `APPEND_INVALID`.
 */
export function checkChain(previous: string, batch: readonly SealedEvent[]): string {
  let hash = previous
  for (const event of batch) {
    hash = chainHash(hash, event.header)
    if (event.hash !== hash || event.id !== eventId(hash))
      throw invalid(
        `revision ${event.header.revision} of ${event.header.stream} does not chain to the event before it; ` +
          'read the head and seal again',
      )
  }
  return hash
}

/**
 * Checks a batch that is to stand right after a stream's head (null: the stream is new): chained to it, not older than
 * it. Throws `APPEND_INVALID`.
 */
export function checkNext(head: { hash: string; timestamp: string } | null, batch: readonly SealedEvent[]): void {
  checkChain(head?.hash ?? GENESIS, batch)
  const first = batch[0]?.header
  if (head && first && first.timestamp < head.timestamp)
    throw invalid(`revision ${first.revision} of ${first.stream} is older than the event before it; clamp its time`)
}

/**
 * The `erased` fact of the batch behind each erasure: the n-th fact names the n-th erasure. Returns the facts' indices.
 * Throws `APPEND_INVALID` where they are not as many.
 */
export function erasingFacts(batch: readonly SealedEvent[], erase: readonly Erasure[]): readonly number[] {
  const facts = batch.flatMap((event, index) => (event.header.type === ERASED ? [index] : []))
  if (facts.length !== erase.length)
    throw invalid(
      `an append has ${facts.length} erased facts for ${erase.length} erasures; give one fact for each body`,
    )
  return facts
}
