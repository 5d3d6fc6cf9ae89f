import { readFile } from 'node:fs/promises'
import { isSealed, type Sealed } from './cipher.ts'
import { VaultError } from './error.ts'
import { checkPrivate, replacePrivate } from './private-file.ts'

/** A file of encrypted texts by name, read and replaced as a whole. A text alone is of old vaults. */
export type Records = Record<string, Sealed | string>

/** Throws VaultError VAULT_CORRUPT for anything but an object of texts, without quoting it. */
export async function readRecords(path: string): Promise<Records> {
  // Without a prototype, so that no inherited name is taken for a secret.
  const found = Object.create(null) as Records
  if (!checkPrivate(path)) return found
  try {
    const all: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (all === null || typeof all !== 'object' || Array.isArray(all)) throw new TypeError('no object')
    if (!Object.values(all).every((value) => typeof value === 'string' || isSealed(value)))
      throw new TypeError('no text')
    return Object.assign(found, all)
  } catch (cause) {
    // The cause may quote what it could not read, so it is not passed on.
    throw new VaultError(
      'VAULT_CORRUPT',
      `${path} is no JSON object of texts (${(cause as Error).name}); restore it from a backup`,
    )
  }
}

export const writeRecords = (path: string, records: Records): Promise<void> =>
  replacePrivate(path, `${JSON.stringify(records, null, 2)}\n`)
