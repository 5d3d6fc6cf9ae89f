import { z } from 'zod'
import { Actor, FORMAT, type Header, type SealedEvent } from './envelope.ts'
import { LogError } from './errors.ts'

/** The most bytes of inline bodies that one append may hold. */
export const MAX_APPEND_BYTES = 16 * 1024 * 1024

const invalid = (message: string) => new LogError('APPEND_INVALID', message)

const CONTROL = /[\u0000-\u001f\u007f]/
const KINDS: ReadonlySet<string> = new Set(Actor.shape.kind.options)

/**
 * Checks the shape of a batch that is to stand after revision `expected` of `stream`: what every adapter refuses before
 * it writes anything. Hashes are left to chain.ts.
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
    if (!HEX32.test(event.hash) || !ID.test(event.id)) throw invalid(`${at} has no well-formed hash and id; seal it`)
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

const HEX16 = /^[0-9a-f]{32}$/
const HEX32 = /^[0-9a-f]{64}$/
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const TIME = z.regexes.datetime({ precision: 3 })
const count = (n: unknown, least: number) => Number.isSafeInteger(n) && (n as number) >= least

/** Refuses what {@link Header} refuses, several times faster; a property test holds the two together. */
function checkHeader(h: Header, at: string): void {
  const { actor, driver, body, digest } = h
  const cipher = body.cipher && [body.cipher.alg, body.cipher.keyId, body.cipher.nonce]
  const ids = [h.stream, h.type, h.runId, h.agentId, h.commandId, actor.id, body.mediaType]
  for (const id of [driver?.id, h.correlationId, h.causationId, h.toolCallId, h.trace])
    if (id !== undefined) ids.push(id)
  const fault =
    (h.format !== FORMAT && `format ${String(h.format)} is not ${FORMAT}`) ||
    (ids.some((id) => typeof id !== 'string' || id === '') && 'an id is empty or no text') ||
    (cipher?.some((text) => typeof text !== 'string') && 'the cipher is not described') ||
    (unstorable(cipher ? [...ids, ...cipher] : ids) && 'an id holds a control character or a lone surrogate') ||
    (!TIME.test(h.timestamp) && `timestamp ${h.timestamp} is not ISO 8601 with milliseconds and Z`) ||
    (!(count(h.version, 1) && count(h.turn, 0) && count(h.revision, 0)) && 'version, turn or revision is no count') ||
    (driver && !count(driver.epoch, 1) && 'the epoch is no count') ||
    (!KINDS.has(actor.kind) && `there is no actor of kind ${String(actor.kind)}`) ||
    (actor.claimed !== undefined && actor.claimed !== true && 'claimed is true or absent') ||
    (digest && !(count(digest.fold, 1) && HEX32.test(digest.value)) && 'the digest is malformed') ||
    (body.place !== 'inline' && body.place !== 'blob' && `there is no place ${String(body.place)}`) ||
    (!(count(body.size, 0) && HEX16.test(body.salt) && HEX32.test(body.hash)) && 'size, salt or body hash is malformed')
  if (fault) throw invalid(`${at}: ${fault}`)
}

// Neither would come back from every store as it went in.
function unstorable(texts: readonly string[]): boolean {
  const all = texts.join(' ')
  return !all.isWellFormed() || CONTROL.test(all)
}
