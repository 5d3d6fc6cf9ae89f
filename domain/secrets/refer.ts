import { hash } from 'node:crypto'
import { base32 } from '../log/ids.ts'

/**
 * The reference of a text under the per-install key: equal texts have equal references, and a reference cannot be
 * guessed without the key.
 */
export function reference(key: Uint8Array, value: string): string {
  return referrer(key)(value)
}

/** {@link reference} under one key. HMAC-SHA-256 from two plain hashes, which take a third of the time of a `Hmac`. */
export function referrer(key: Uint8Array): (value: string) => string {
  const block = Buffer.alloc(64)
  block.set(key.length > 64 ? hash('sha256', key, 'buffer') : key)
  const [inner, outer] = [block.map((byte) => byte ^ 0x36), block.map((byte) => byte ^ 0x5c)]
  return (value) => {
    const within = hash('sha256', Buffer.concat([inner, Buffer.from(value, 'utf8')]), 'buffer')
    return `secret:ku_${base32(hash('sha256', Buffer.concat([outer, within]), 'buffer')).slice(0, 26)}`
  }
}
