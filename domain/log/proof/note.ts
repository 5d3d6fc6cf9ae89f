import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto'
import { echo } from '../issues.ts'
import { base64, fromBase64 } from './encoding.ts'
import { malformed, ProofError } from './proof-error.ts'

// Signed notes, https://c2sp.org/signed-note@v1.0.0, and cosignatures, https://c2sp.org/tlog-cosignature@v1.0.1.

/** Signature types. Signatures and keys of other types are valid, but nothing here verifies them. */
export const ED25519 = 1
export const COSIGNATURE = 4

/** A public key of a note: its name, its id (8 hex digits), its signature type and the key itself. */
export interface NoteKey {
  readonly name: string
  readonly id: string
  readonly type: number
  readonly publicKey: Uint8Array
}

/** A key that signs notes (`ED25519`) or cosigns checkpoints (`COSIGNATURE`). */
export interface NoteSigner {
  readonly key: NoteKey
  readonly seed: Uint8Array
  readonly privateKey: KeyObject
}

/** A verified signature. `line`: as in the note, with its newline. `time`: POSIX seconds, of cosignatures only. */
export interface NoteSignature {
  readonly key: NoteKey
  readonly line: string
  readonly time: number | null
}

/** A note with at least one verified signature. `text` ends in a newline. */
export interface OpenedNote {
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

const MAX_SIGNATURES = 100
const DASH = '\u2014'
const SEED_SIZE = 32
// The DER of an Ed25519 key before its 32 bytes.
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')
/** Seconds are stored as 64 bits. */
const MAX_TIME = Number.MAX_SAFE_INTEGER

const verifies = ({ type }: NoteKey): boolean => type === ED25519 || type === COSIGNATURE

/** Whether a text can name a key. */
export const isKeyName = (name: string): boolean =>
  /^[^\p{White_Space}\u0000-\u001f+]+$/u.test(name) && name.isWellFormed()

function keyOf(name: string, type: number, publicKey: Uint8Array): NoteKey {
  if (!isKeyName(name))
    throw malformed(`"${echo(name)}" cannot name a key; use a name without spaces and plus signs, such as a URL`)
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(type), publicKey])).slice(0, 8)
  return { name, id, type, publicKey }
}

/** Makes the key of a seed: 32 random bytes, which must stay secret. */
export function noteSigner(name: string, seed: Uint8Array, type: typeof ED25519 | typeof COSIGNATURE): NoteSigner {
  if (seed.length !== SEED_SIZE)
    throw malformed(`a key's seed has ${SEED_SIZE} bytes, not ${seed.length}; make a new key`)
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(SPKI.length)
  return { key: keyOf(name, type, publicKey), seed, privateKey }
}

const keyText = ({ name, id, type }: NoteKey, bytes: Uint8Array): string =>
  `${name}+${id}+${base64(Buffer.concat([Buffer.of(type), bytes]))}`

/** The public key as a text, called vkey. */
export const formatVkey = (key: NoteKey): string => keyText(key, key.publicKey)

/** The secret key as a text, in the form of Go's `golang.org/x/mod/sumdb/note`. */
export const formatSecretKey = ({ key, seed }: NoteSigner): string => SECRET + keyText(key, seed)
const SECRET = 'PRIVATE+KEY+'

/** Reads a vkey. Keys of types that are unknown here are accepted and verify nothing. Throws `MALFORMED`. */
export function parseVkey(text: string): NoteKey {
  const { name, id, type, bytes } = keyParts(text, 'verifier key')
  if (type !== ED25519 && type !== COSIGNATURE) return { name, id, type, publicKey: bytes }
  const key = keyOf(name, type, bytes)
  if (bytes.length !== 32 || key.id !== id)
    throw malformed(`the verifier key of "${echo(name)}" does not match its id; copy the whole key again`)
  return key
}

/** Reads {@link formatSecretKey}. Throws `MALFORMED`, without the secret in the message. */
export function parseSecretKey(text: string): NoteSigner {
  const { name, id, type, bytes } = keyParts(text.startsWith(SECRET) ? text.slice(SECRET.length) : '', 'secret key')
  if (type !== ED25519 && type !== COSIGNATURE)
    throw malformed(`the secret key of "${echo(name)}" has the unknown type ${type}; use an Ed25519 key`)
  const signer = noteSigner(name, bytes, type)
  if (signer.key.id !== id)
    throw malformed(`the secret key of "${echo(name)}" does not match its id; restore the key from a backup`)
  return signer
}

// Base64 may contain a plus sign, names and ids may not.
function keyParts(text: string, what: string): { name: string; id: string; type: number; bytes: Uint8Array } {
  const [, name, id, key] = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text) ?? []
  if (name === undefined || id === undefined || key === undefined || !isKeyName(name))
    throw malformed(`this is not a ${what} (name+id+key); copy the whole key again`)
  const bytes = fromBase64(key)
  return { name, id, type: bytes[0]!, bytes: bytes.subarray(1) }
}

/** Throws `MALFORMED` unless a text can be signed: lines of well-formed text without control characters. */
function checkText(text: string, what: string): void {
  if (!text.endsWith('\n')) throw malformed(`${what} does not end in a newline; fetch the file again`)
  if (!text.isWellFormed() || /[\u0000-\u0009\u000b-\u001f]/.test(text))
    throw malformed(`${what} contains control characters or broken characters; fetch the file again`)
}

/** The bytes that a signature covers. */
const signedBytes = (text: string, time: number | null): Buffer =>
  Buffer.from(time === null ? text : `cosignature/v1\ntime ${time}\n${text}`)

/** Signs a text that ends in a newline. Returns the signature line. `time`: POSIX seconds, for cosignatures only. */
export function signatureLine({ key, privateKey }: NoteSigner, text: string, time: number | null = null): string {
  checkText(text, 'the text to sign')
  if ((key.type === COSIGNATURE) !== (time !== null))
    throw new TypeError('a cosignature needs a time and another signature has none; pass the time with a cosigner')
  const stamp = Buffer.alloc(time === null ? 0 : 8)
  if (time !== null) stamp.writeBigUInt64BE(BigInt(time))
  const signature = sign(null, signedBytes(text, time), privateKey)
  return `${DASH} ${key.name} ${base64(Buffer.concat([Buffer.from(key.id, 'hex'), stamp, signature]))}\n`
}

/** Joins a text and its signature lines to a note. */
export const formatNote = (text: string, lines: readonly string[]): string => `${text}\n${lines.join('')}`

/**
 * Opens a note: verifies the signatures of the known keys and ignores those of other keys. Throws `MALFORMED`,
 * `SIGNATURE_WRONG` when one signature of a known key is wrong, `SIGNATURE_MISSING` when no known key signed.
 */
export function openNote(note: string, keys: readonly NoteKey[]): OpenedNote {
  const { text, lines } = splitNote(note)
  const signatures: NoteSignature[] = []
  for (const line of lines) {
    const { name, id, signature } = parseLine(line)
    for (const key of keys) {
      if (key.name !== name || key.id !== id || !verifies(key) || signatures.some((one) => one.key === key)) continue
      signatures.push({ key, line, time: verified(key, text, signature) })
    }
  }
  if (signatures.length === 0)
    throw new ProofError('SIGNATURE_MISSING', 'no known key signed the note; add the verifier key of its signer')
  return { text, signatures }
}

/** Separates the text of a note from its signature lines, without verifying them. Throws `MALFORMED`. */
export function splitNote(note: string): { text: string; lines: readonly string[] } {
  checkText(note, 'the note')
  const end = note.lastIndexOf('\n\n')
  const lines = end < 0 ? [] : (note.slice(end + 2).match(/[^\n]*\n/g) ?? [])
  if (lines.length === 0) throw malformed('the note has no signature after its last empty line; fetch the file again')
  if (lines.length > MAX_SIGNATURES)
    throw malformed(`the note has more than ${MAX_SIGNATURES} signatures; remove those of unknown keys`)
  return { text: note.slice(0, end + 1), lines }
}

function parseLine(line: string): { name: string; id: string; signature: Buffer } {
  const [, name, encoded] = /^\u2014 ([^ ]+) ([^ ]+)\n$/.exec(line) ?? []
  const bytes = Buffer.from(encoded === undefined ? [] : fromBase64(encoded))
  if (name === undefined || !isKeyName(name) || bytes.length < 5)
    throw malformed(`"${echo(line.trimEnd())}" is not a signature line; fetch the file again`)
  return { name, id: bytes.toString('hex', 0, 4), signature: bytes.subarray(4) }
}

/** Verifies one signature. Returns its time, null without one. */
function verified(key: NoteKey, text: string, bytes: Buffer): number | null {
  const isCosignature = key.type === COSIGNATURE
  const time = isCosignature && bytes.length >= 8 ? Number(bytes.readBigUInt64BE()) : null
  const signature = bytes.subarray(isCosignature ? 8 : 0)
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, key.publicKey]), format: 'der', type: 'spki' })
  const isRight =
    signature.length === 64 && (time ?? 0) <= MAX_TIME && verify(null, signedBytes(text, time), publicKey, signature)
  if (!isRight)
    throw new ProofError('SIGNATURE_WRONG', `the signature of "${echo(key.name)}" is wrong; the text was altered`)
  return time
}
