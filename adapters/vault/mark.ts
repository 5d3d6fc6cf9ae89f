import { createHmac } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { VaultError } from './error.ts'
import { createPrivate } from './private-file.ts'

/** The file beside the vault that names its reference key. It shows that a vault was here. */
export const vaultMark = (dataFolder: string): string => join(dataFolder, 'vault.check')

const markOf = (key: Uint8Array): string => createHmac('sha256', key).update('keepup vault').digest('hex')

/**
 * Throws VaultError VAULT_MISSING where a vault was marked here and one of its `files` is missing or empty. A new vault
 * would leave the references in the log without values.
 */
export function refuseLost(dataFolder: string, files: readonly string[]): void {
  if (statSync(vaultMark(dataFolder), { throwIfNoEntry: false }) === undefined) return
  const lost = files.find((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0)
  if (lost !== undefined) throw vaultMissing(dataFolder, `${lost} is gone or empty`)
}

/** Marks the reference key at the first start. Later throws VaultError VAULT_MISSING where the key is another one. */
export async function holdToMark(dataFolder: string, key: Uint8Array): Promise<void> {
  const path = vaultMark(dataFolder)
  if (statSync(path, { throwIfNoEntry: false }) === undefined) await createPrivate(path, `${markOf(key)}\n`)
  refuseOther(dataFolder, key)
}

/** Throws VaultError VAULT_MISSING where another reference key was marked here. */
export function refuseOther(dataFolder: string, key: Uint8Array): void {
  const path = vaultMark(dataFolder)
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return
  if (readFileSync(path, 'latin1').trim() === markOf(key)) return
  throw vaultMissing(dataFolder, 'its reference key belongs to another data folder')
}

export const vaultMissing = (dataFolder: string, what: string): VaultError =>
  new VaultError(
    'VAULT_MISSING',
    `the vault in ${dataFolder} cannot be used: ${what}; restore the folder "vault" from a backup. Where it is lost for ` +
      `good, delete ${vaultMark(dataFolder)}: keepup makes a new key, and the secrets of earlier runs stay unresolvable`,
  )
