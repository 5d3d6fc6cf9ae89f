import { createHash, hash } from 'node:crypto'
import { canonicalHeader, sealedHeader } from './canonical.ts'
import type { BodyHeader, Header, SealedEvent } from './envelope.ts'

/** The hash before the first event of a stream: 32 zero bytes, as hex. */
export const GENESIS = '0'.repeat(64)

// Hashing in one call of joined bytes takes half the time of two updates, and of the garbage. Nothing here is awaited, so
// that one buffer serves all.
let shared = Buffer.alloc(16 * 1024)

function scratch(size: number): Buffer {
  if (size > 1024 * 1024) return Buffer.alloc(size)
  if (shared.length < size) shared = Buffer.alloc(size)
  return shared.subarray(0, size)
}

/** `SHA-256(previous hash, 32 raw bytes ‖ text)`, hex. */
export function hashAfter(previous: string, text: string): string {
  const input = scratch(32 + 3 * text.length)
  input.write(previous, 0, 'hex')
  const size = 32 + input.write(text, 32)
  return hash('sha256', input.subarray(0, size))
}

/** `SHA-256(salt ‖ body as stored)`, hex. `salt`: 16 bytes. */
export function bodyHash(salt: Uint8Array, body: Uint8Array): string {
  const input = scratch(salt.length + body.length)
  input.set(salt)
  input.set(body, salt.length)
  return hash('sha256', input)
}

/** {@link bodyHash} of bytes that come in pieces. */
export function bodyHasher(salt: Uint8Array): { update(bytes: Uint8Array): void; hex(): string } {
  const hasher = createHash('sha256').update(salt)
  return { update: (bytes) => void hasher.update(bytes), hex: () => hasher.digest('hex') }
}

/** Are these bytes the body that was sealed: of the size, and with the salted hash, that the header tells? */
export function isSealedBody(header: BodyHeader, bytes: Uint8Array): boolean {
  const { salt, size, hash } = header
  if (salted.get(bytes)?.header === header) return true
  return bytes.length === size && bodyHash(Buffer.from(salt, 'hex'), bytes) === hash
}

/** `SHA-256(previous hash, 32 raw bytes ‖ canonical header)`, hex. */
export function chainHash(previous: string, header: Header): string {
  return chainHashOf(previous, canonicalHeader(header))
}

/** {@link chainHash} where the header's canonical text is at hand. */
export function chainHashOf(previous: string, canonical: string): string {
  return hashAfter(previous, canonical)
}

/** The event id: the first 16 bytes of the hash with the version 8 and variant bits of a UUID set, lower case. */
export function eventId(hash: string): string {
  const variant = ((Number.parseInt(hash[16]!, 16) & 0x3) | 0x8).toString(16)
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** A body made ready for sealing: canonical bytes, salt and what the header says of them. */
export interface SaltedBody {
  readonly bytes: Uint8Array
  readonly header: BodyHeader
}

// Sealed events and their bytes are never changed in place: what was sealed here need not be hashed a second time to be
// believed, nor parsed.
const salted = new WeakMap<Uint8Array, { readonly header: BodyHeader; readonly value: unknown }>()
const chained = new WeakMap<SealedEvent, string>()

/**
 * Salts and hashes canonical body bytes. `salt`: 16 random bytes. `value`: the JSON value of the bytes, in the current shape
 * of its type, for readers in this process.
 */
export function saltBody(bytes: Uint8Array, salt: Uint8Array, value?: unknown): SaltedBody {
  const header: BodyHeader = {
    place: 'inline',
    size: bytes.length,
    mediaType: 'application/json',
    salt: Buffer.from(salt).toString('hex'),
    hash: bodyHash(salt, bytes),
  }
  salted.set(bytes, { header, value })
  return { bytes, header }
}

/** The value that {@link saltBody} was given with these very bytes; undefined where it got none, or they come from elsewhere. */
export function sealedValue(bytes: Uint8Array): unknown {
  return salted.get(bytes)?.value
}

/** Chains one event to the hash before it. `body` is what is stored inline: null where the header says `blob`. */
export function seal(previous: string, header: Header, body: Uint8Array | null): SealedEvent {
  const hash = chainHashOf(previous, sealedHeader(header))
  const event = { header, body, hash, id: eventId(hash) }
  chained.set(event, previous)
  return event
}

/** The hash that {@link seal} chained this very object to; undefined where it comes from elsewhere. */
export function sealedAfter(event: SealedEvent): string | undefined {
  return chained.get(event)
}

/** The hash to which a batch was chained that was sealed here whole, bodies included; undefined where any part was not. */
export function batchSealedAfter(batch: readonly SealedEvent[]): string | undefined {
  const first = batch[0] && sealedAfter(batch[0])
  let hash = first
  for (const event of batch) {
    const { header, body } = event
    if (hash === undefined || sealedAfter(event) !== hash) return undefined
    if (body !== null && salted.get(body)?.header !== header.body) return undefined
    hash = event.hash
  }
  return first
}
