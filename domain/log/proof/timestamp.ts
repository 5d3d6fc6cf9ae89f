import { HASH_SIZE } from './encoding.ts'
import { malformed, ProofError } from './proof-error.ts'

// Time stamps of RFC 3161. `openssl ts -verify` verifies the signature and the certificates of an answer.

export const TIMESTAMP_QUERY = 'application/timestamp-query'
export const TIMESTAMP_REPLY = 'application/timestamp-reply'
export const NONCE_SIZE = 9

const SHA256 = Buffer.from('0609608648016503040201', 'hex')

/**
 * The request to stamp a SHA-256 hash, 70 bytes; it asks for the certificate too. `nonce`: 9 random bytes, of which the
 * first is changed into one from 01 to 7f, because the number must be positive and without leading zeros.
 */
export function timestampRequest(hash: Uint8Array, nonce: Uint8Array): Uint8Array {
  if (hash.length !== HASH_SIZE || nonce.length !== NONCE_SIZE)
    throw malformed(`a request has a hash of ${HASH_SIZE} bytes and a nonce of ${NONCE_SIZE}; pass these sizes`)
  const imprint = Buffer.concat([Buffer.from('3031300d', 'hex'), SHA256, Buffer.from('0500', 'hex'), octets(hash)])
  return Buffer.concat([Buffer.from('3044020101', 'hex'), imprint, integer(nonce), Buffer.from('0101ff', 'hex')])
}

/**
 * Checks that an answer grants a stamp for this hash and nonce. Throws `MALFORMED` for other bytes and `PROOF_WRONG` for
 * a refusal and for an answer to another request. The signature is not verified.
 */
export function checkTimestamp(answer: Uint8Array, hash: Uint8Array, nonce: Uint8Array): void {
  const bytes = Buffer.from(answer)
  // TimeStampResp ::= SEQUENCE { PKIStatusInfo ::= SEQUENCE { status INTEGER, … }, TimeStampToken OPTIONAL }
  const outer = sequenceAt(bytes, 0)
  const info = sequenceAt(bytes, outer.start)
  if (outer.end !== bytes.length || bytes[info.start] !== 0x02 || bytes[info.start + 1] !== 1)
    throw malformed('the answer is not a time stamp (RFC 3161); check the URL of the time stamp authority')
  const status = bytes[info.start + 2]!
  // 0: granted. 1: granted with modifications.
  if (status > 1)
    throw new ProofError(
      'PROOF_WRONG',
      `the time stamp authority refused the request (status ${status}); ask another one`,
    )
  const token = bytes.subarray(info.end)
  for (const [what, part] of [
    ['hash', octets(hash)],
    ['nonce', integer(nonce)],
  ] as const)
    if (!token.includes(part))
      throw new ProofError('PROOF_WRONG', `the time stamp has another ${what} than the request; send the request again`)
}

const octets = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(0x04, bytes.length), bytes])

function integer(nonce: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.of(0x02, nonce.length), nonce])
  bytes[2] = bytes[2]! & 0x7f || 1
  return bytes
}

/** Finds the content of the DER sequence at an offset. Throws `MALFORMED`. */
function sequenceAt(bytes: Buffer, at: number): { start: number; end: number } {
  const first = bytes[at + 1] ?? 0
  const more = first < 0x80 ? 0 : first - 0x80
  const start = at + 2 + more
  if (bytes[at] !== 0x30 || more > 4 || start > bytes.length)
    throw malformed('the answer is not DER; check the URL of the time stamp authority')
  const end = start + (more === 0 ? first : bytes.readUIntBE(at + 2, more))
  if (end > bytes.length) throw malformed('the answer is cut off; send the request again')
  return { start, end }
}
