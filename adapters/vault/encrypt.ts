import { readFile } from 'node:fs/promises'
import { exclusively } from '../files/exclusive.ts'
import { type Sealed, sealText, unseal, type VaultKey } from './cipher.ts'
import { VaultError } from './error.ts'
import { KeyRing, type ReferenceKey } from './key-ring.ts'
import { addKey, type KeySource, readKeys } from './keys.ts'
import type { Extent } from './mark.ts'
import { checkPrivate, replacePrivate } from './private-file.ts'
import { CHANGES, type Records, readRecords, writeRecords } from './records.ts'
import { entryIn, type Kept, lineOf, REFERENCES } from './reference-file.ts'
import { PURPOSE, type VaultFiles, vaultFiles } from './vault-files.ts'

/**
 * Encrypts a vault again under the newest of its keys. Makes a new key first where the vault is under the newest already.
 * The former keys stay, so a crash half-way loses nothing: the next call finishes the work. Returns the new key's id.
 * Throws VaultError VAULT_MISSING or VAULT_KEY.
 */
export async function rotateKey(dataFolder: string, source: KeySource): Promise<string> {
  const files = vaultFiles(dataFolder)
  if (!checkPrivate(files.key))
    throw new VaultError('VAULT_MISSING', `there is no vault in ${dataFolder} yet; the first run makes it`)
  return exclusively(files.lock, async () => {
    let keys = readKeys(source)
    if (await isWhollyUnder(files, keys[0])) keys = await addKey(source, dataFolder)
    const ring = new KeyRing(dataFolder, source, files.key, keys)
    const { bytes } = ring.referenceKey() as ReferenceKey
    // The reference key goes first: from then on, also after a crash, new records are under the new key.
    await replacePrivate(files.key, ring.wrapped(bytes, ring.newest))
    await encryptRecords(files, ring)
    await encryptReferences(files, ring)
    return ring.newest.id
  })
}

/** Decrypts one record with the key that it names. Throws VaultError VAULT_KEY or VAULT_CORRUPT. */
export const decrypted = (ring: KeyRing, sealed: Sealed, purpose: string): string =>
  unseal(ring.find(sealed.key), purpose, sealed)

async function encryptRecords(files: VaultFiles, ring: KeyRing): Promise<void> {
  const purposes = [
    [files.secrets, PURPOSE.secret],
    [files.retired, () => PURPOSE.retired],
  ] as const
  for (const [path, purposeOf] of purposes) {
    if (!checkPrivate(path)) continue
    const records = Object.entries(await readRecords(path))
    await writeRecords(
      path,
      Object.fromEntries(records.map(([name, sealed]) => [name, again(ring, sealed, purposeOf(name))])),
    )
  }
}

async function encryptReferences(files: VaultFiles, ring: KeyRing): Promise<void> {
  const lines = (await entriesOf(files)).map(([reference, kept]) =>
    lineOf(reference, 'name' in kept ? kept : again(ring, kept, PURPOSE.reference(reference))),
  )
  await replacePrivate(files.references, REFERENCES + lines.join(''))
}

const again = (ring: KeyRing, sealed: Sealed, purpose: string): Sealed =>
  sealText(ring.newest, purpose, decrypted(ring, sealed, purpose))

async function entriesOf({ references }: VaultFiles): Promise<[string, Kept][]> {
  if (!checkPrivate(references)) return []
  return (await readFile(references, 'utf8')).split('\n').flatMap((line) => {
    const entry = entryIn(line)
    return entry === null ? [] : [entry]
  })
}

async function isWhollyUnder(files: VaultFiles, key: VaultKey | undefined): Promise<boolean> {
  const wrapped = JSON.parse(await readFile(files.key, 'utf8').catch(() => 'null')) as Sealed | null
  const records = [
    ...Object.values(await readRecords(files.secrets)),
    ...Object.values(await readRecords(files.retired)),
  ]
  const all: (Kept | null)[] = [wrapped, ...records, ...(await entriesOf(files)).map(([, kept]) => kept)]
  return all.every((one) => one === null || 'name' in one || one.key === key?.id)
}

/** The number of changes that the named secrets have seen. */
export const changeCount = (ring: KeyRing, secrets: Records): number => {
  const sealed = secrets[CHANGES]
  return sealed === undefined ? 0 : Number(decrypted(ring, sealed, PURPOSE.secret(CHANGES)))
}

/**
 * Decrypts every record of the vault and returns what it holds. Makes nothing. Throws VaultError where a record cannot be
 * decrypted.
 */
export async function checkEncrypted(files: VaultFiles, ring: KeyRing): Promise<Extent> {
  const secrets = await readRecords(files.secrets)
  for (const [name, sealed] of Object.entries(secrets)) decrypted(ring, sealed, PURPOSE.secret(name))
  for (const sealed of Object.values(await readRecords(files.retired))) decrypted(ring, sealed, PURPOSE.retired)
  const references = new Map(await entriesOf(files))
  for (const [reference, kept] of references) if (!('name' in kept)) decrypted(ring, kept, PURPOSE.reference(reference))
  return { changes: changeCount(ring, secrets), references: references.size }
}
