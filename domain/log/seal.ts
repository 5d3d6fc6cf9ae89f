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

/**
 * The size of the random salt before every stored body, in bytes. An erasure empties salt and body together, so that the
 * hash in the header confirms no guess.
 */
export const SALT_BYTES = 16

/** Stored bytes: the salt, then the body. */
export function salted(salt: Uint8Array, body: Uint8Array): Uint8Array {
  if (salt.length !== SALT_BYTES) throw new RangeError(`a salt has ${SALT_BYTES} bytes, not ${salt.length}`)
  const stored = new Uint8Array(SALT_BYTES + body.length)
  stored.set(salt)
  stored.set(body, SALT_BYTES)
  return stored
}

/** The body in stored bytes, without its salt. */
export const unsalted = (stored: Uint8Array): Uint8Array => stored.subarray(SALT_BYTES)

/** `SHA-256(salt ‖ body)`, hex, of stored bytes. */
export const bodyHash = (stored: Uint8Array): string => hash('sha256', stored)

/** {@link bodyHash} for stored bytes that arrive in chunks. */
export function bodyHasher(): { update(bytes: Uint8Array): void; hex(): string } {
  const hasher = createHash('sha256')
  return { update: (bytes) => void hasher.update(bytes), hex: () => hasher.digest('hex') }
}

/** Whether these stored bytes are the sealed body with its salt: their size and hash match the header. */
export function isSealedBody(header: BodyHeader, stored: Uint8Array): boolean {
  if (OwnBody.isOf(header, stored)) return true
  return stored.length === SALT_BYTES + header.size && bodyHash(stored) === header.hash
}

/** The body in stored bytes; null: they are not the ones that were sealed. */
export function sealedBody(header: BodyHeader, stored: Uint8Array): Uint8Array | null {
  if (OwnBody.isOf(header, stored)) return OwnBody.body(header)
  return isSealedBody(header, stored) ? unsalted(stored) : null
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

/** A body ready for sealing: its stored bytes (salt, then canonical JSON) and its part of the header. */
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
  readonly hash: string
  readonly #stored: Uint8Array
  readonly #body: Uint8Array
  readonly #value: unknown

  constructor(stored: Uint8Array, value: unknown) {
    this.#stored = stored
    this.#body = unsalted(stored)
    this.#value = value
    this.size = this.#body.length
    this.hash = bodyHash(stored)
  }

  static isOf(header: BodyHeader, stored: Uint8Array): header is OwnBody {
    return #stored in header && header.#stored === stored
  }

  static body(header: OwnBody): Uint8Array {
    return header.#body
  }

  static valueOf(header: BodyHeader, body: Uint8Array): unknown {
    return #body in header && header.#body === body ? header.#value : undefined
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
 * Salts and hashes a canonical body. `salt`: 16 random bytes. `value`: the JSON value of the body, in the current
 * shape of its type, for readers in this process.
 */
export function saltBody(body: Uint8Array, salt: Uint8Array, value?: unknown): SaltedBody {
  const bytes = salted(salt, body)
  return { bytes, header: new OwnBody(bytes, value) }
}

/** The value passed to {@link saltBody} with this body of {@link sealedBody}; undefined: there is none. */
export function sealedValue(header: BodyHeader, body: Uint8Array): unknown {
  return OwnBody.valueOf(header, body)
}

/** Chains one event to the hash before it. `body`: the stored bytes; null when the header says `blob`. */
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
