import { statSync } from 'node:fs'
import type { Vault } from '../../domain/ports/index.ts'
import { unhidable } from '../../domain/secrets/forms.ts'
import { Mutex } from '../../domain/stream/runtime/concurrency.ts'
import { exclusively } from '../files/exclusive.ts'
import { makeFolder } from '../files/folders.ts'
import { type Sealed, sealText } from './cipher.ts'
import { changeCount, checkEncrypted, decrypted } from './encrypt.ts'
import { heldValues, SETTINGS } from './environment-values.ts'
import { KeyRing, type ReferenceKey } from './key-ring.ts'
import { ensureKeys, type KeySource, keyTexts, readKeys, systemKeys, tidyKeyFile } from './keys.ts'
import { type Extent, holdToMark, markExtent, refuseLostVault, refuseOlder, refuseOther } from './mark.ts'
import { appendPrivate, checkPrivate, createPrivate, removeTemporaries, temporariesOf } from './private-file.ts'
import { CHANGES, type Records, readRecords, writeRecords } from './records.ts'
import { REFERENCES, referenceFile } from './reference-file.ts'
import { refuseInvalid } from './refuse-invalid.ts'
import { withRetired } from './retired.ts'
import { PURPOSE, type VaultFiles, vaultFiles, vaultFolder } from './vault-files.ts'

export interface VaultOptions {
  readonly dataFolder: string
  /** Read before the vault's file, as for settings. Default: the environment of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** The keys that encrypt the vault. Default: the keys that the environment of the process names. */
  readonly keys?: KeySource
  /** Variables whose values are secrets, whether or not a run asks for them. */
  readonly secretNames?: readonly string[]
  /** Secrets in the settings, such as passwords of servers. */
  readonly settings?: readonly string[]
}

/**
 * Checks a vault without making anything. Throws VaultError as {@link openVault} does, and where a record cannot be
 * decrypted. Returns the names of the secrets that redaction does not hide; see {@link unhidable}.
 */
export async function checkVault(dataFolder: string, keys: KeySource = systemKeys()): Promise<string[]> {
  const files = vaultFiles(dataFolder)
  refuseLostVault(dataFolder, [files.key, files.references])
  const ring = new KeyRing(dataFolder, keys, files.key, readKeys(keys))
  const key = ring.referenceKey()
  if (key !== null) refuseOther(dataFolder, key.bytes)
  checkPrivate(files.references)
  await refuseOlder(dataFolder, () => checkEncrypted(files, ring))
  return Object.entries(await readRecords(files.secrets))
    .filter(([name, sealed]) => name !== CHANGES && unhidable(decrypted(ring, sealed, PURPOSE.secret(name))) !== null)
    .map(([name]) => name)
}

/** Removes the temporary files of killed processes. Takes the lock only where there are any. */
async function tidy({ secrets, retired, references, key, lock }: VaultFiles): Promise<void> {
  const all = [secrets, retired, references, key]
  if (all.flatMap(temporariesOf).length === 0) return
  await exclusively(lock, async () => {
    for (const path of all) await removeTemporaries(path)
  })
}

/**
 * Opens the vault of a data folder, and makes it at the first start. Its files have mode 0600 and are encrypted under a key
 * that lies elsewhere. They hold named secrets, the values of references, and the reference key. Values of variables and
 * settings are not stored: their references hold the name instead. Rejects with VaultError: VAULT_EXPOSED where other
 * users can read a file, VAULT_MISSING where a vault was here and is gone, VAULT_OLD where an older copy was put back,
 * VAULT_KEY where the key does not fit, VAULT_CORRUPT, VAULT_UNREADABLE.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const { dataFolder, env = process.env, keys: source = systemKeys() } = options
  const files = vaultFiles(dataFolder)
  // This check comes before anything is made, so that a restored vault finds its place free.
  refuseLostVault(dataFolder, [files.key, files.references])
  makeFolder(vaultFolder(dataFolder))
  await tidyKeyFile(source)
  await tidy(files)
  const isNew = !checkPrivate(files.key)
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
  // The file is made durable first: an addition is lost while the folder does not durably name the file.
  if (!checkPrivate(files.references)) await exclusively(files.lock, () => createPrivate(files.references, REFERENCES))
  else if (statSync(files.references).size === 0) await appendPrivate(files.references, REFERENCES)
  const read = (sealed: Sealed, purpose: string) => decrypted(ring, sealed, purpose)
  const references = referenceFile(
    files.references,
    {
      sealing: () => {
        const key = ring.current()
        return (reference, text) => sealText(key, PURPOSE.reference(reference), text)
      },
      unseal: (reference, kept) => read(kept, PURPOSE.reference(reference)),
    },
    held,
  )
  await holdToMark(dataFolder, key.bytes)
  const mutex = new Mutex()
  const extent = async (): Promise<Extent> => ({
    changes: changeCount(ring, await readRecords(files.secrets)),
    references: references.count(),
  })
  // Whole files are read and replaced, so a change of another process in between would be lost.
  const changing = <T>(work: () => Promise<T>): Promise<T> =>
    mutex.run(() =>
      exclusively(files.lock, async () => {
        await refuseOlder(dataFolder, extent)
        const done = await work()
        // The mark follows the vault. After a crash in between, the vault holds more than the mark says.
        await markExtent(dataFolder, key.bytes, await extent())
        return done
      }),
    )
  const write = (secrets: Records) => {
    const changes = changeCount(ring, secrets) + 1
    const counted = { ...secrets, [CHANGES]: sealText(ring.current(), PURPOSE.secret(CHANGES), String(changes)) }
    return writeRecords(files.secrets, counted)
  }
  const valueIn = (secrets: Records, name: string): string | null => {
    const kept = Object.hasOwn(secrets, name) ? secrets[name] : undefined
    return kept === undefined ? null : read(kept, PURPOSE.secret(name))
  }
  const retired = async () =>
    Object.entries(await readRecords(files.retired)).map(([key, sealed]) => {
      const [, name = null] = key.split(' ')
      return { name, value: read(sealed, PURPOSE.retired), sealed }
    })
  await refuseOlder(dataFolder, extent)
  /** Keeps a value that is about to go: it may still stand in a file, and may still be valid at its issuer. */
  const retire = async (name: string, value: string | null) => {
    if (value === null) return
    const sealed = sealText(ring.current(), PURPOSE.retired, value)
    const kept = withRetired(await retired(), { name, value, sealed })
    const records = kept.map((one, i) => [one.name === null ? `${i}` : `${i} ${one.name}`, one.sealed])
    await writeRecords(files.retired, Object.fromEntries(records))
  }
  return {
    get: async (name) => {
      const given = Object.hasOwn(env, name) ? env[name] : undefined
      if (!given?.trim()) {
        const found = valueIn(await readRecords(files.secrets), name)
        if (found === null) await refuseOlder(dataFolder, extent)
        return found
      }
      held.asked(name)
      return given
    },
    set: (name, value) =>
      changing(async () => {
        refuseInvalid(name, value)
        const secrets = await readRecords(files.secrets)
        const before = valueIn(secrets, name)
        if (before !== value) await retire(name, before)
        secrets[name] = sealText(ring.current(), PURPOSE.secret(name), value)
        await write(secrets)
      }),
    remove: (name) =>
      changing(async () => {
        const secrets = await readRecords(files.secrets)
        if (!Object.hasOwn(secrets, name)) return false
        await retire(name, valueIn(secrets, name))
        delete secrets[name]
        await write(secrets)
        return true
      }),
    retired: async () => (await retired()).map(({ name, value }) => ({ name, value })),
    held: async () => references.names().filter((name) => name !== SETTINGS),
    stamp: async () => [files.secrets, files.retired].map(stampOf).join(' '),
    // An open process must notice an older copy too, because the secrets that the copy lacks would not be hidden.
    names: async () => {
      await refuseOlder(dataFolder, extent)
      return Object.keys(await readRecords(files.secrets))
        .filter((name) => name !== CHANGES)
        .sort()
    },
    referenceKey: async () => Uint8Array.from(key.bytes),
    remember: async (made) => {
      if ([...made.keys()].every(references.knows)) return
      await changing(() => references.add(made))
    },
    resolve: references.get,
  }
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat ? `${stat.ino}:${stat.mtimeNs}:${stat.size}` : '-'
}
