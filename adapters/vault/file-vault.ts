import { readFileSync, statSync } from 'node:fs'
import { unhidable } from '../../domain/agent/secrets/forms.ts'
import type { Vault } from '../../domain/ports.ts'
import { Mutex } from '../../domain/runtime/concurrency.ts'
import { exclusively } from '../files/exclusive.ts'
import { makeFolder } from '../files/folders.ts'
import { seal } from './cipher.ts'
import { checkEncrypted, encrypted, encryptOld } from './encrypt.ts'
import { VaultError } from './error.ts'
import { heldValues, SETTINGS } from './held.ts'
import { KeyRing, type ReferenceKey } from './key-ring.ts'
import { ensureKeys, type KeySource, keyTexts, readKeys, systemKeys, tidyKeyFile } from './keys.ts'
import { holdToMark, refuseLost, refuseOther } from './mark.ts'
import { appendPrivate, checkPrivate, createPrivate, removeTemporaries, temporariesOf } from './private-file.ts'
import { type Records, readRecords, writeRecords } from './records.ts'
import { REFERENCES, referenceFile } from './reference-file.ts'
import { PURPOSE, type VaultFiles, vaultFiles, vaultFolder } from './vault-files.ts'

export interface VaultOptions {
  readonly dataFolder: string
  /** Asked before the vault's file, as configuration is: environment over file. Default: the process's. */
  readonly env?: NodeJS.ProcessEnv
  /** What the vault is encrypted under. Default: as the environment of the process says. */
  readonly keys?: KeySource
  /** Variables that hold secrets, whether or not they are asked for. */
  readonly secretNames?: readonly string[]
  /** Secrets that the settings hold. */
  readonly settings?: readonly string[]
}

/** Values of before that are still hidden; the oldest go first. */
const MAX_RETIRED = 100

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Throws as {@link openVault} would where a vault was kept here and cannot be used, and where a part of it cannot be
 * decrypted. Makes nothing.
 */
export async function checkVault(dataFolder: string, keys: KeySource = systemKeys()): Promise<void> {
  const files = vaultFiles(dataFolder)
  refuseLost(dataFolder, [files.key, files.references])
  const ring = new KeyRing(dataFolder, keys, files.key, readKeys(keys))
  const key = ring.referenceKey()
  if (key !== null) refuseOther(dataFolder, key.bytes)
  checkPrivate(files.references)
  await readRecords(files.secrets)
  await checkEncrypted(files, ring)
}

/** Removes what a killed process has left beside the vault's files. Takes the lock only where there is anything. */
async function tidy({ secrets, retired, references, key, lock }: VaultFiles): Promise<void> {
  const all = [secrets, retired, references, key]
  if ((await Promise.all(all.map(temporariesOf))).flat().length === 0) return
  await exclusively(lock, async () => {
    for (const path of all) await removeTemporaries(path)
  })
}

/**
 * Secrets in files of mode 0600 in the data folder, encrypted under a key that lies elsewhere: named ones, the values of
 * references, and the install's reference key, made at the first start. What variables and settings hold is not in them:
 * references to it name it. Rejects with VaultError VAULT_EXPOSED where others can read one of the files, VAULT_MISSING where
 * what references stand for was here and is gone, VAULT_KEY where the key does not fit.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const { dataFolder, env = process.env, keys: source = systemKeys() } = options
  const files = vaultFiles(dataFolder)
  // Before anything is made: what is restored here must find its place free.
  refuseLost(dataFolder, [files.key, files.references])
  makeFolder(vaultFolder(dataFolder))
  await tidyKeyFile(source)
  await tidy(files)
  const isNew = !checkPrivate(files.key) || isPlain(files.key)
  const ring = new KeyRing(
    dataFolder,
    source,
    files.key,
    isNew ? await ensureKeys(source, dataFolder) : readKeys(source),
  )
  if (isNew) await exclusively(files.lock, () => ring.ensureReferenceKey())
  const key = ring.referenceKey() as ReferenceKey
  const settings = [...(options.settings ?? []), ...keyTexts(source)]
  const held = heldValues(key.bytes, env, options.secretNames ?? [], settings)
  // Made durably at once: what is added to a file counts for nothing while its folder does not name it.
  if (!checkPrivate(files.references)) await exclusively(files.lock, () => createPrivate(files.references, REFERENCES))
  else if (statSync(files.references).size === 0) await appendPrivate(files.references, REFERENCES)
  if (key.under === null) await encryptOld(files, ring, key, held)
  const read = encrypted(ring)
  const references = referenceFile(
    files.references,
    {
      seal: (reference, text) => seal(ring.current(), PURPOSE.reference(reference), text),
      unseal: (reference, kept) => read(kept, PURPOSE.reference(reference)),
    },
    held,
  )
  await holdToMark(dataFolder, key.bytes)
  const mutex = new Mutex()
  // What another process sets or encrypts anew in between would be lost: whole files are read and replaced.
  const changing = <T>(work: () => Promise<T>): Promise<T> => mutex.run(() => exclusively(files.lock, work))
  const valueIn = (secrets: Records, name: string): string | null => {
    const kept = Object.hasOwn(secrets, name) ? secrets[name] : undefined
    return kept === undefined ? null : read(kept, PURPOSE.secret(name))
  }
  const retired = async () => Object.values(await readRecords(files.retired)).map((kept) => read(kept, PURPOSE.retired))
  await readRecords(files.secrets)
  /** Before the value goes: what was secret yesterday may still stand in a file, or still open a door. */
  const retire = async (value: string | null) => {
    if (value === null) return
    const before = Object.values(await readRecords(files.retired)).filter(
      (kept) => read(kept, PURPOSE.retired) !== value,
    )
    const kept = [...before, seal(ring.current(), PURPOSE.retired, value)].slice(-MAX_RETIRED)
    await writeRecords(files.retired, Object.fromEntries(kept.entries()))
  }
  return {
    get: async (name) => {
      const given = Object.hasOwn(env, name) ? env[name] : undefined
      if (!given?.trim()) return valueIn(await readRecords(files.secrets), name)
      held.asked(name)
      return given
    },
    set: (name, value) =>
      changing(async () => {
        refuseInvalid(name, value)
        const secrets = await readRecords(files.secrets)
        const before = valueIn(secrets, name)
        if (before !== value) await retire(before)
        secrets[name] = seal(ring.current(), PURPOSE.secret(name), value)
        await writeRecords(files.secrets, secrets)
      }),
    remove: (name) =>
      changing(async () => {
        const secrets = await readRecords(files.secrets)
        if (!Object.hasOwn(secrets, name)) return false
        await retire(valueIn(secrets, name))
        delete secrets[name]
        await writeRecords(files.secrets, secrets)
        return true
      }),
    retired,
    held: async () => references.names().filter((name) => name !== SETTINGS),
    stamp: async () => [files.secrets, files.retired].map(stampOf).join(' '),
    names: async () => Object.keys(await readRecords(files.secrets)).sort(),
    referenceKey: async () => Uint8Array.from(key.bytes),
    remember: async (made) => {
      if ([...made.keys()].every(references.knows)) return
      await changing(() => references.add(made))
    },
    resolve: references.get,
  }
}

/** As it was kept before vaults were encrypted. */
const isPlain = (path: string): boolean => /^[0-9a-f]{64}\s*$/.test(readFileSync(path, 'latin1'))

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat ? `${stat.ino}:${stat.mtimeNs}:${stat.size}` : '-'
}

function refuseInvalid(name: string, value: string): void {
  if (!NAME.test(name)) {
    throw new VaultError('SECRET_INVALID', `${JSON.stringify(name)} is no name for a secret; use letters, digits and _`)
  }
  const fault = unhidable(value)
  if (fault !== null)
    throw new VaultError('SECRET_INVALID', `the value of ${name} could not be hidden: ${fault}; use another one`)
}
