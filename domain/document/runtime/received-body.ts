import { sha256 } from '../../log/ids.ts'
import { type AiEnvelopeRequest, payloadHash } from '../envelope/request.ts'
import { attemptOf } from '../envelope/retry-delay.ts'
import type { Received } from '../stream/events.ts'

/** The bytes of a body that could not be parsed as JSON. `fault`: why, and what to send. */
export class RawBody {
  readonly bytes: Uint8Array
  readonly fault: string
  constructor(bytes: Uint8Array, fault: string) {
    this.bytes = bytes
    this.fault = fault
  }
}

/** The `client_request_id` of an unchecked body. */
export function idIn(body: unknown): string | null {
  const id = (body as { client_request_id?: unknown } | null)?.client_request_id
  return typeof id === 'string' ? id : null
}

/** A request in its recorded form. `whole` false: records only its hash and size. */
export function receivedOf(
  documentId: string,
  body: unknown,
  request: AiEnvelopeRequest | null,
  whole: boolean,
): Received {
  const bytes = body instanceof RawBody ? body.bytes : Buffer.from(JSON.stringify(body) ?? '')
  const { first, retry } = attemptOf(request?.client_request_id ?? '')
  return {
    documentId,
    hash: request === null ? sha256(bytes) : payloadHash(request),
    size: bytes.length,
    request: whole ? request : null,
    ...(retry > 0 && whole ? { retryOf: { first, retry } } : {}),
  }
}
