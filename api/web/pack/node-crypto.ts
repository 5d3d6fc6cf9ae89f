import { Point } from '@noble/ed25519'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { Buffer } from 'buffer'

// The functions of node:crypto that the verifier of packs uses, for a browser: SHA-256, and Ed25519 as OpenSSL verifies
// it. WebCrypto is no replacement: its functions are asynchronous and need a secure context. The build of the page puts
// this file in the place of node:crypto.

const ORDER = Point.CURVE().n
const KEY_SIZE = 32

const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === 'string' ? Buffer.from(data) : data)

function hexOrBytes(bytes: Uint8Array, encoding: 'hex' | 'buffer' | undefined): string | Buffer {
  const buffer = Buffer.from(bytes)
  return encoding === 'buffer' ? buffer : buffer.toString('hex')
}

export function hash(algorithm: string, data: string | Uint8Array, encoding?: 'hex' | 'buffer'): string | Buffer {
  checkAlgorithm(algorithm)
  return hexOrBytes(sha256(bytesOf(data)), encoding)
}

export function createHash(algorithm: string) {
  checkAlgorithm(algorithm)
  const hasher = sha256.create()
  return {
    update: (data: string | Uint8Array) => void hasher.update(bytesOf(data)),
    digest: (encoding: 'hex') => hexOrBytes(hasher.digest(), encoding),
  }
}

function checkAlgorithm(algorithm: string): void {
  if (algorithm !== 'sha256') throw new Error(`the page computes SHA-256 only, not ${algorithm}`)
}

/** `key`: the DER of an Ed25519 key, which ends in the 32 bytes of the key. */
export const createPublicKey = ({ key }: { key: Uint8Array }): Uint8Array => key.subarray(-KEY_SIZE)

/**
 * Whether an Ed25519 signature is valid. Computes the point R from the rest, compares its bytes, and refuses points of
 * small order, as OpenSSL does, so that both agree about unusual keys and signatures too.
 */
export function verify(_: null, text: Uint8Array, key: Uint8Array, signature: Uint8Array): boolean {
  const r = signature.subarray(0, 32)
  const s = scalar(signature.subarray(32))
  if (signature.length !== 64 || s >= ORDER) return false
  try {
    const a = Point.fromBytes(Uint8Array.from(key), true)
    const k = scalar(sha512(Buffer.concat([r, key, text]))) % ORDER
    const found = Point.BASE.multiply(s, false).subtract(a.multiply(k, false))
    return Buffer.compare(found.toBytes(), r) === 0 && !a.isSmallOrder() && !found.isSmallOrder()
  } catch {
    // The key is not a point of the curve.
    return false
  }
}

/** A number from little-endian bytes. */
const scalar = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`)

const signsNothing = (): never => {
  throw new Error('the page has no secret key and signs nothing; use keepup')
}

export { signsNothing as createPrivateKey, signsNothing as sign }
