import canonicalize from 'canonicalize'
import type { Header } from './envelope.ts'

const utf8 = new TextEncoder()

/**
 * RFC 8785 bytes of a JSON value (UTF-8). Throws `TypeError` for a value that is not JSON (NaN, undefined, BigInt). A
 * body is serialised once, with this function; afterwards readers use its bytes.
 */
export function canonicalBytes(value: unknown): Uint8Array {
  return utf8.encode(canonicalText(value))
}

/** RFC 8785 text of a JSON value. Throws as {@link canonicalBytes} does. */
export function canonicalText(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('only JSON values have canonical bytes')
  return text
}

/**
 * RFC 8785 text of a header. Returns the same text as {@link canonicalText}, several times faster: the keys are written
 * in sorted order, so plain `JSON.stringify` gives the canonical form. A property test compares the two.
 */
export function canonicalHeader(h: Header): string {
  const { actor, body, driver, digest } = h
  return JSON.stringify({
    actor: { claimed: actor.claimed, id: actor.id, kind: actor.kind },
    agentId: h.agentId,
    body: {
      cipher: body.cipher && { alg: body.cipher.alg, keyId: body.cipher.keyId, nonce: body.cipher.nonce },
      hash: body.hash,
      mediaType: body.mediaType,
      place: body.place,
      size: body.size,
    },
    causationId: h.causationId,
    commandId: h.commandId,
    correlationId: h.correlationId,
    digest: digest && { fold: digest.fold, value: digest.value },
    driver: driver && { epoch: driver.epoch, id: driver.id },
    format: h.format,
    keyId: h.keyId,
    minReader: h.minReader,
    revision: h.revision,
    runId: h.runId,
    stream: h.stream,
    timestamp: h.timestamp,
    toolCallId: h.toolCallId,
    trace: h.trace,
    turn: h.turn,
    type: h.type,
    version: h.version,
    wakeAt: h.wakeAt,
  })
}
