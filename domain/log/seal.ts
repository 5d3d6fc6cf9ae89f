import { createHash, hash } from 'node:crypto'
import { canonicalHeader } from './canonical.ts'
import type { BodyHeader, Header, SealedEvent } from './envelope.ts'

/** The hash before the first event of a stream: 32 zero bytes, as hex. */
export const GENESIS = '0'.repeat(64)

// One hash call over joined bytes takes half the time, and makes half the garbage, of two updates. No function here
// awaits, so all can share one buffer.
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

/** {@link bodyHash} for bytes that arrive in chunks. */
export function bodyHasher(salt: Uint8Array): { update(bytes: Uint8Array): void; hex(): string } {
  const hasher = createHash('sha256').update(salt)
  return { update: (bytes) => void hasher.update(bytes), hex: () => hasher.digest('hex') }
}

/** Whether these bytes are the sealed body: their size and salted hash match the header. */
export function isSealedBody(header: BodyHeader, bytes: Uint8Array): boolean {
  const { salt, size, hash } = header
  if (OwnBody.isOf(header, bytes)) return true
  return bytes.length === size && bodyHash(Buffer.from(salt, 'hex'), bytes) === hash
}

/** `SHA-256(previous hash, 32 raw bytes ‖ canonical header)`, hex. */
export function chainHash(previous: string, header: Header): string {
  return chainHashOf(previous, canonicalHeader(header))
}

/** {@link chainHash} for a header whose canonical text is known. */
export function chainHashOf(previous: string, canonical: string): string {
  return hashAfter(previous, canonical)
}

/** The event id: the first 16 bytes of the hash with the version 8 and variant bits of a UUID set, lower case. */
export function eventId(hash: string): string {
  const variant = ((Number.parseInt(hash[16]!, 16) & 0x3) | 0x8).toString(16)
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** A body ready for sealing: its canonical bytes and its part of the header, with salt and hash. */
export interface SaltedBody {
  readonly bytes: Uint8Array
  readonly header: BodyHeader
}

// Events sealed in this process need no second hashing or parsing: sealed events and their bytes are never changed in
// place. Private members carry the proof, because a copy does not have them. WeakMaps would cost several times more,
// mostly in garbage collection.

/** The header part of a body that was salted in this process. */
class OwnBody implements BodyHeader {
  readonly place = 'inline'
  readonly size: number
  readonly mediaType = 'application/json'
  readonly salt: string
  readonly hash: string
  readonly #bytes: Uint8Array
  readonly #value: unknown

  constructor(bytes: Uint8Array, salt: Uint8Array, value: unknown) {
    this.size = bytes.length
    this.salt = Buffer.from(salt).toString('hex')
    this.hash = bodyHash(salt, bytes)
    this.#bytes = bytes
    this.#value = value
  }

  static isOf(header: BodyHeader, bytes: Uint8Array): header is OwnBody {
    return #bytes in header && header.#bytes === bytes
  }

  static value(header: OwnBody): unknown {
    return header.#value
  }
}

/** An event that was sealed in this process. */
class OwnEvent implements SealedEvent {
  readonly header: Header
  readonly body: Uint8Array | null
  readonly hash: string
  readonly id: string
  readonly #previous: string
  #canonical: string | null

  constructor(previous: string, header: Header, body: Uint8Array | null) {
    const canonical = canonicalHeader(header)
    this.header = header
    this.body = body
    this.hash = chainHashOf(previous, canonical)
    this.id = eventId(this.hash)
    this.#previous = previous
    this.#canonical = canonical
  }

  static previous(event: SealedEvent): string | undefined {
    return #previous in event ? event.#previous : undefined
  }

  /** Releases the text: only the append needs it, and the log's tail keeps the event longer. */
  static takeCanonical(event: SealedEvent): string | null {
    if (!(#previous in event)) return null
    const text = event.#canonical
    event.#canonical = null
    return text
  }
}

/**
 * Salts and hashes canonical body bytes. `salt`: 16 random bytes. `value`: the JSON value of the bytes, in the current
 * shape of its type, for readers in this process.
 */
export function saltBody(bytes: Uint8Array, salt: Uint8Array, value?: unknown): SaltedBody {
  return { bytes, header: new OwnBody(bytes, salt, value) }
}

/** The value passed to {@link saltBody} with these bytes; undefined without one, or for bytes from elsewhere. */
export function sealedValue(header: BodyHeader, bytes: Uint8Array): unknown {
  return OwnBody.isOf(header, bytes) ? OwnBody.value(header) : undefined
}

/** Chains one event to the hash before it. `body`: the inline bytes; null when the header says `blob`. */
export function seal(previous: string, header: Header, body: Uint8Array | null): SealedEvent {
  return new OwnEvent(previous, header, body)
}

/** The hash that {@link seal} chained this object to; undefined for an event from elsewhere. */
export function sealedAfter(event: SealedEvent): string | undefined {
  return OwnEvent.previous(event)
}

/** The canonical text of an event's header, for the append. A second call serialises it again. */
export function sentHeader(event: SealedEvent): string {
  return OwnEvent.takeCanonical(event) ?? canonicalHeader(event.header)
}

/** The hash that a batch chains to, if this process sealed all of it, bodies included; otherwise undefined. */
export function batchSealedAfter(batch: readonly SealedEvent[]): string | undefined {
  const first = batch[0] && sealedAfter(batch[0])
  let hash = first
  for (const event of batch) {
    const { header, body } = event
    if (hash === undefined || sealedAfter(event) !== hash) return undefined
    if (body !== null && !OwnBody.isOf(header.body, body)) return undefined
    hash = event.hash
  }
  return first
}
