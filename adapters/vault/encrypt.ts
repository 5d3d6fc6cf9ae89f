import { readFile, rm } from 'node:fs/promises'
import { exclusively } from '../files/exclusive.ts'
import { type Sealed, seal, unseal, type VaultKey } from './cipher.ts'
import { VaultError } from './error.ts'
import type { HeldValues } from './held.ts'
import { KeyRing, type ReferenceKey } from './key-ring.ts'
import { addKey, type KeySource, readKeys } from './keys.ts'
import { checkPrivate, replacePrivate } from './private-file.ts'
import { readRecords, writeRecords } from './records.ts'
import { entryIn, type Kept, lineOf, REFERENCES } from './reference-file.ts'
import { PURPOSE, type VaultFiles, vaultFiles } from './vault-files.ts'

/**
 * Encrypts a vault of before, which was kept in plain text. The key of the references is the last: until it is encrypted,
 * what was interrupted is begun again.
 */
export async function encryptOld(files: VaultFiles, ring: KeyRing, key: ReferenceKey, held: HeldValues): Promise<void> {
  await exclusively(files.lock, async () => {
    if (ring.referenceKey()?.under !== null) return
    const plain = (value: Sealed | string, purpose: string) =>
      typeof value === 'string' ? value : unseal(ring.find(value.key), purpose, value)
    await encryptRecords(files, ring.newest, plain)
    await encryptReferences(files, ring.newest, plain, (text) => held.nameOf(text))
    await rm(files.noted, { force: true })
    await replacePrivate(files.key, ring.wrapped(key.bytes, ring.newest))
  })
}

/**
 * Encrypts a vault anew, under the newest of its keys; where that is the one it has, a new one is made first. The former
 * keys stay, so that a crash half-way loses nothing: called again, it ends what it began. Returns the new key's id. Throws
 * VaultError VAULT_KEY.
 */
export async function rotateKey(dataFolder: string, source: KeySource): Promise<string> {
  const files = vaultFiles(dataFolder)
  // Before anything is made there.
  if (!checkPrivate(files.key))
    throw new VaultError('VAULT_MISSING', `there is no vault in ${dataFolder} yet; the first run makes it`)
  return exclusively(files.lock, async () => {
    let keys = readKeys(source)
    if (await isWhollyUnder(files, keys[0])) keys = await addKey(source, dataFolder)
    const ring = new KeyRing(dataFolder, source, files.key, keys)
    const { bytes, under } = ring.referenceKey() as ReferenceKey
    if (under === null) throw new VaultError('VAULT_KEY', 'the vault is not encrypted yet; start keepup once')
    // The first, so that whatever is added meanwhile or after a crash is under the new key too.
    await replacePrivate(files.key, ring.wrapped(bytes, ring.newest))
    await encryptRecords(files, ring.newest, encrypted(ring))
    await encryptReferences(files, ring.newest, encrypted(ring), () => null)
    return ring.newest.id
  })
}

type Read = (value: Sealed | string, purpose: string) => string

/** Reads encrypted records only: keepup writes no plain text into an encrypted vault, so plain text there is foreign. */
export const encrypted =
  (ring: KeyRing): Read =>
  (value, purpose) => {
    if (typeof value !== 'string') return unseal(ring.find(value.key), purpose, value)
    throw new VaultError('VAULT_CORRUPT', `the vault's ${purpose} is not encrypted; restore it from a backup`)
  }

async function encryptRecords(files: VaultFiles, key: VaultKey, read: Read): Promise<void> {
  const purposes = [
    [files.secrets, PURPOSE.secret],
    [files.retired, () => PURPOSE.retired],
  ] as const
  for (const [path, purposeOf] of purposes) {
    if (!checkPrivate(path)) continue
    const records = Object.entries(await readRecords(path))
    const anew = records.map(([name, value]) => [name, seal(key, purposeOf(name), read(value, purposeOf(name)))])
    await writeRecords(path, Object.fromEntries(anew))
  }
}

async function encryptReferences(
  files: VaultFiles,
  key: VaultKey,
  read: Read,
  nameOf: (text: string) => string | null,
): Promise<void> {
  const anew = (reference: string, kept: Kept): Kept => {
    if (typeof kept !== 'string' && 'name' in kept) return kept
    const text = read(kept, PURPOSE.reference(reference))
    const name = nameOf(text)
    return name === null ? seal(key, PURPOSE.reference(reference), text) : { name }
  }
  const entries = await entriesOf(files)
  await replacePrivate(
    files.references,
    REFERENCES + entries.map(([ref, kept]) => lineOf(ref, anew(ref, kept))).join(''),
  )
}

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
  return all.every((one) => one === null || typeof one === 'string' || 'name' in one || one.key === key?.id)
}

/** Throws where anything of the vault cannot be decrypted. Makes nothing. */
export async function checkEncrypted(files: VaultFiles, ring: KeyRing): Promise<void> {
  if (ring.referenceKey()?.under == null) return
  const read = encrypted(ring)
  for (const [name, value] of Object.entries(await readRecords(files.secrets))) read(value, PURPOSE.secret(name))
  for (const value of Object.values(await readRecords(files.retired))) read(value, PURPOSE.retired)
  for (const [reference, kept] of await entriesOf(files))
    if (typeof kept === 'string' || !('name' in kept)) read(kept, PURPOSE.reference(reference))
}
