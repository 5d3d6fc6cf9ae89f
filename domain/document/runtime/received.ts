import { sha256 } from '../../log/ids.ts'
import { type AiEnvelopeRequest, payloadHash } from '../envelope/request.ts'
import { attemptOf } from '../envelope/retry.ts'
import type { Received } from '../stream/events.ts'

/** A body that was not read as JSON, as its bytes. `fault` says why, and what to send. */
export class RawBody {
  readonly bytes: Uint8Array
  readonly fault: string
  constructor(bytes: Uint8Array, fault: string) {
    this.bytes = bytes
    this.fault = fault
  }
}

/** The id that a body gives itself, before anything of it is checked. */
export function idIn(body: unknown): string | null {
  const id = (body as { client_request_id?: unknown } | null)?.client_request_id
  return typeof id === 'string' ? id : null
}

/** A request as it is recorded. `whole` false: only its hash and size. */
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
