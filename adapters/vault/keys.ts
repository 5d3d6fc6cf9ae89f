import { randomBytes } from 'node:crypto'
import { lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { exclusively } from '../files/exclusive.ts'
import { makeFolder } from '../files/folders.ts'
import { liesIn } from '../files/inside.ts'
import { configHome } from '../files/user-folders.ts'
import { type VaultKey, vaultKey } from './cipher.ts'
import { VaultError } from './error.ts'
import {
  checkPrivate,
  createPrivate,
  realPath,
  removeTemporaries,
  replacePrivate,
  temporariesOf,
} from './private-file.ts'

/** The source of the vault's keys. */
export interface KeySource {
  /** The value of `KEEPUP_VAULT_KEY`: keys of 64 hex digits, separated by commas, the current one first. Null: use the file. */
  readonly text: string | null
  /** A file of mode 0600 with one key a line, the current one first. Made where it is missing. */
  readonly file: string
}

/** The default key file. It lies outside every data folder, so that no copy of one contains it. */
export const defaultKeyFile = (env: NodeJS.ProcessEnv): string => join(configHome(env), 'keepup', 'vault.key')

export const systemKeys = (env: NodeJS.ProcessEnv = process.env): KeySource => ({
  text: env.KEEPUP_VAULT_KEY || null,
  file: defaultKeyFile(env),
})

export const keyPlaceOf = ({ text, file }: KeySource): string => (text === null ? file : 'KEEPUP_VAULT_KEY')

/** Reads all keys, the current one first; none where the file is missing. Throws VaultError where they cannot be used. */
export function readKeys(source: KeySource): VaultKey[] {
  if (source.text !== null) return parsed(source.text.split(','), 'KEEPUP_VAULT_KEY')
  if (!isThere(source.file)) return []
  return parsed(readFileSync(source.file, 'latin1').split('\n'), source.file)
}

/** The keys as text, for redaction. */
export const keyTexts = (source: KeySource): string[] =>
  readKeys(source).map(({ bytes }) => Buffer.from(bytes).toString('hex'))

/** Reads all keys, and makes a key file first where there is none. */
export async function ensureKeys(source: KeySource, dataFolder: string): Promise<VaultKey[]> {
  if (source.text === null && !isThere(source.file)) {
    await changingFile(source, dataFolder, () => createPrivate(source.file, `${fresh()}\n`))
  }
  return readKeys(source)
}

/** Removes the temporary files of killed processes beside the key file. Takes the lock only where there are any. */
export async function tidyKeyFile({ text, file }: KeySource): Promise<void> {
  if (text !== null || !isThere(file)) return
  const real = realPath(file)
  if (temporariesOf(real).length > 0) await exclusively(`${real}.lock`, () => removeTemporaries(real))
}

/** Puts a new key before the keys of the file. The former keys stay, because records and backups may still be under them. */
export async function addKey(source: KeySource, dataFolder: string): Promise<VaultKey[]> {
  if (source.text !== null) {
    throw new VaultError(
      'VAULT_KEY',
      'KEEPUP_VAULT_KEY holds one key, which the vault has already; set it to NEW,OLD (NEW: openssl rand -hex 32) for ' +
        'keepup and all its processes, and call this again',
    )
  }
  // The file is read under the lock: several data folders may share it, and each may add a key.
  await changingFile(source, dataFolder, async () => {
    const before = isThere(source.file) ? readFileSync(source.file, 'latin1') : ''
    await replacePrivate(source.file, `${fresh()}\n${before}`)
  })
  return readKeys(source)
}

const fresh = () => randomBytes(32).toString('hex')

/** Whether the key file exists. Throws VaultError where other users can read it, or where it links to a missing file. */
function isThere(file: string): boolean {
  if (checkPrivate(file)) return true
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return false
  throw new VaultError(
    'VAULT_KEY',
    `${file} is a link to ${readlinkSync(file)}, which is missing; put the key back there, or remove the link: a new ` +
      'key is made only where no vault needs the former one',
  )
}

/** Changes the key file under its lock, and removes the temporary files of killed processes. */
async function changingFile({ file }: KeySource, dataFolder: string, change: () => Promise<void>): Promise<void> {
  try {
    makeFolder(dirname(file))
    const real = realPath(file)
    refuseInside(real, dataFolder)
    await exclusively(`${real}.lock`, async () => {
      await removeTemporaries(real)
      await change()
    })
  } catch (error) {
    if (error instanceof VaultError) throw error
    throw new VaultError(
      'VAULT_KEY',
      `the vault's key cannot be kept in ${file} (${(error as Error).message}); set KEEPUP_VAULT_KEY, or name another ` +
        'file with KEEPUP_VAULT_KEY_FILE',
      { cause: error },
    )
  }
}

/** Throws VaultError where the key lies in the data folder that it encrypts. The folder of the file must exist. */
function refuseInside(file: string, dataFolder: string): void {
  if (!liesIn(realpathSync.native(dataFolder), realpathSync.native(dirname(file)))) return
  throw new VaultError(
    'VAULT_KEY',
    `the vault's key must not lie in the data folder, whose copies would hold it: ${file}; name another file with ` +
      'KEEPUP_VAULT_KEY_FILE',
  )
}

function parsed(lines: readonly string[], place: string): VaultKey[] {
  const texts = lines.map((line) => line.trim()).filter((line) => line !== '')
  const wrong = texts.findIndex((text) => !/^[0-9a-f]{64}$/i.test(text))
  if (wrong !== -1 || texts.length === 0) {
    const what = texts.length === 0 ? 'holds no key' : `holds a key (number ${wrong + 1}) that is not 64 hex digits`
    throw new VaultError('VAULT_KEY', `${place} ${what}; put the key back, or make one: openssl rand -hex 32`)
  }
  return texts.map((text) => vaultKey(Buffer.from(text, 'hex')))
}
