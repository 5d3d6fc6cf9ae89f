import { readFile } from 'node:fs/promises'
import { isSealed, type Sealed } from './cipher.ts'
import { VaultError } from './error.ts'
import { checkPrivate, replacePrivate } from './private-file.ts'

/** A file of encrypted texts by name, read and replaced as a whole. */
export type Records = Record<string, Sealed>

/** Reads a file of encrypted texts; empty where the file is missing. Throws VaultError VAULT_CORRUPT, whose message quotes nothing of it. */
export async function readRecords(path: string): Promise<Records> {
  // Without a prototype, so that no inherited name is taken for a secret.
  const found = Object.create(null) as Records
  if (!checkPrivate(path)) return found
  try {
    const all: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (all === null || typeof all !== 'object' || Array.isArray(all)) throw new TypeError('no object')
    if (!Object.values(all).every(isSealed)) throw new TypeError('not encrypted')
    return Object.assign(found, all)
  } catch (cause) {
    // The cause is not passed on: its message may quote the file.
    throw new VaultError(
      'VAULT_CORRUPT',
      `${path} is not a JSON object of encrypted texts (${(cause as Error).name}); restore it from a backup`,
    )
  }
}

/** The record that holds the number of changes of the named secrets. No secret has this name. */
export const CHANGES = '#changes'

export const writeRecords = (path: string, records: Records): Promise<void> =>
  replacePrivate(path, `${JSON.stringify(records, null, 2)}\n`)
