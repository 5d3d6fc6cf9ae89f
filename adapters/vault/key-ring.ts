import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isSealed, type Sealed, sealText, unseal, type VaultKey } from './cipher.ts'
import { VaultError } from './error.ts'
import { type KeySource, keyPlaceOf, readKeys } from './keys.ts'
import { checkPrivate, createPrivate } from './private-file.ts'

const REFERENCE_KEY = 'reference key'

/** The key of the references' HMAC, and the vault's key that encrypts it. */
export interface ReferenceKey {
  readonly bytes: Uint8Array
  readonly under: VaultKey
}

/** The keys that can decrypt a vault. The vault itself names its current key. */
export class KeyRing {
  readonly #dataFolder: string
  readonly #source: KeySource
  /** The file of the reference key. */
  readonly #path: string
  #keys: readonly VaultKey[]

  constructor(dataFolder: string, source: KeySource, path: string, keys: readonly VaultKey[]) {
    this.#dataFolder = dataFolder
    this.#source = source
    this.#path = path
    this.#keys = keys
  }

  /** The newest key. It encrypts a new vault and a rotated one. */
  get newest(): VaultKey {
    const [key] = this.#keys
    if (key === undefined) throw this.#missing('its key is missing')
    return key
  }

  /** Throws VaultError VAULT_KEY where there is no such key. */
  find(id: string): VaultKey {
    const find = () => this.#keys.find((key) => key.id === id)
    const known = find()
    if (known !== undefined) return known
    // Another process may have rotated the key since.
    this.#keys = readKeys(this.#source)
    const found = find()
    if (found === undefined) throw this.#missing(`it needs key ${id}, which is not the one that is there`)
    return found
  }

  /** The key that encrypts the vault now. Call it while no other process rotates. */
  current(): VaultKey {
    return this.referenceKey()?.under ?? this.newest
  }

  /** The reference key; null where the vault has none yet. Throws VaultError VAULT_KEY or VAULT_CORRUPT. */
  referenceKey(): ReferenceKey | null {
    if (!checkPrivate(this.#path)) return null
    const sealed = parsed(readFileSync(this.#path, 'latin1'))
    if (sealed === null)
      throw new VaultError('VAULT_CORRUPT', `${this.#path} holds no reference key; restore it from a backup`)
    const under = this.find(sealed.key)
    return { bytes: Buffer.from(unseal(under, REFERENCE_KEY, sealed), 'hex'), under }
  }

  async ensureReferenceKey(): Promise<ReferenceKey> {
    const found = this.referenceKey()
    if (found !== null) return found
    await createPrivate(this.#path, this.wrapped(randomBytes(32), this.newest))
    return this.referenceKey() as ReferenceKey
  }

  /** The file's text for a reference key, encrypted under a key of the vault. */
  wrapped(bytes: Uint8Array, under: VaultKey): string {
    return `${JSON.stringify(sealText(under, REFERENCE_KEY, Buffer.from(bytes).toString('hex')))}\n`
  }

  #missing(what: string): VaultError {
    return new VaultError(
      'VAULT_KEY',
      `the vault in ${this.#dataFolder} cannot be decrypted with ${keyPlaceOf(this.#source)}: ${what}; put the key back ` +
        '(KEEPUP_VAULT_KEY, or the file of KEEPUP_VAULT_KEY_FILE): a backup of the data folder does not hold it. Where it ' +
        'is lost for good, delete "vault" and "vault.check" there: a new vault begins, and secrets in earlier runs stay ' +
        'unresolvable',
    )
  }
}

function parsed(text: string): Sealed | null {
  try {
    const found: unknown = JSON.parse(text)
    return isSealed(found) ? found : null
  } catch {
    return null
  }
}
