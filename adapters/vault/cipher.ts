import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { VaultError } from './error.ts'

/** A key of the vault: 32 bytes, and the id by which encrypted records name it. */
export interface VaultKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/** An encrypted text: the id of its key, the nonce, and the cipher text with its tag (both base64). */
export interface Sealed {
  readonly key: string
  readonly nonce: string
  readonly data: string
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Makes a key with its id, a keyed hash, from which the key cannot be computed. */
export const vaultKey = (bytes: Uint8Array): VaultKey => ({
  id: createHmac('sha256', bytes).update('keepup vault key').digest('hex').slice(0, 16),
  bytes,
})

/** Binds a record to its purpose: in the place of another record it does not decrypt. */
const associated = (purpose: string): Buffer => Buffer.from(`keepup vault 1\n${purpose}`, 'utf8')

/** Encrypts a text under a fresh nonce. */
export function sealText(key: VaultKey, purpose: string, text: string): Sealed {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key.bytes, nonce).setAAD(associated(purpose))
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { key: key.id, nonce: nonce.toString('base64'), data: data.toString('base64') }
}

/** Decrypts a text. Throws VaultError VAULT_CORRUPT where it was changed or moved. */
export function unseal(key: VaultKey, purpose: string, { nonce, data }: Sealed): string {
  try {
    const bytes = Buffer.from(data, 'base64')
    const cipher = createDecipheriv(ALGORITHM, key.bytes, Buffer.from(nonce, 'base64'), { authTagLength: TAG_BYTES })
    cipher.setAAD(associated(purpose)).setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
    return cipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + cipher.final('utf8')
  } catch {
    throw new VaultError(
      'VAULT_CORRUPT',
      `the vault's ${purpose} was changed or damaged; restore the folder "vault" from a backup`,
    )
  }
}

export function isSealed(value: unknown): value is Sealed {
  if (value === null || typeof value !== 'object') return false
  const { key, nonce, data } = value as Record<string, unknown>
  return [key, nonce, data].every((part) => typeof part === 'string')
}
