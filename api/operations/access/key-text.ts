import { createHash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Random } from '../../../domain/ports/index.ts'

// A key is `ku_key_<id>_<secret><checksum>`: 8, 26 and 6 characters of Crockford's base 32. The checksum is the low 30
// bits of the CRC-32 of everything before it, so that scanners can tell keys from other texts without a server.

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const KEY = /^(ku_key_([0-9a-hjkmnp-tv-z]{8})_([0-9a-hjkmnp-tv-z]{26}))([0-9a-hjkmnp-tv-z]{6})$/

/** Characters of 5 random bits each. */
const characters = (random: Random, length: number): string =>
  Array.from(random.bytes(length), (byte) => ALPHABET[byte & 31]).join('')

function checksum(text: string): string {
  const sum = crc32(text)
  return Array.from({ length: 6 }, (_, at) => ALPHABET[(sum >>> (25 - 5 * at)) & 31]).join('')
}

/** A short id for people: of a key, or of a hold. */
export const newId = (random: Random): string => characters(random, 8)

/** A new key. `text` is the only copy of the secret; `hash` is the hex SHA-256 of the secret. */
export function newKey(random: Random): { readonly id: string; readonly text: string; readonly hash: string } {
  const id = newId(random)
  const secret = characters(random, 26)
  const before = `ku_key_${id}_${secret}`
  return { id, text: `${before}${checksum(before)}`, hash: digestOf(secret).toString('hex') }
}

/** The id and the secret of a key, as its text has them. */
export interface KeyText {
  readonly id: string
  readonly secret: string
}

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** Constant-time check of a secret. `hash`: hex SHA-256; undefined: there is no such key. */
export const isSecretOf = (secret: string, hash: string | undefined): boolean =>
  timingSafeEqual(digestOf(secret), hash === undefined ? Buffer.alloc(32) : Buffer.from(hash, 'hex'))

/** The id and secret of a key. Null: the text is no key, or has a typing error. */
export function parseKey(text: string): KeyText | null {
  const [, before, id, secret, sum] = KEY.exec(text) ?? []
  if (before === undefined || id === undefined || secret === undefined) return null
  return checksum(before) === sum ? { id, secret } : null
}
