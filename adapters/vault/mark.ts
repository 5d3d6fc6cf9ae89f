import { createHmac } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { VaultError } from './error.ts'
import { createPrivate, replacePrivate } from './private-file.ts'

/**
 * The file beside the vault. Its first line names the reference key, its second line the vault's {@link Extent}. It shows
 * that a vault was here, and that an older copy is not the whole vault.
 */
export const vaultMark = (dataFolder: string): string => join(dataFolder, 'vault.check')

const markOf = (key: Uint8Array): string => createHmac('sha256', key).update('keepup vault').digest('hex')

/**
 * Throws VaultError VAULT_MISSING where a vault was marked here and one of its `files` is missing or empty. A new vault
 * would leave the references in the log without values.
 */
export function refuseLostVault(dataFolder: string, files: readonly string[]): void {
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
  if (linesOf(path)[0] === markOf(key)) return
  throw vaultMissing(dataFolder, 'its reference key is not the key that vault.check names')
}

/** Both numbers only grow: changes of named secrets, and references with a value. A rotation of the key changes neither. */
export interface Extent {
  readonly changes: number
  readonly references: number
}

/**
 * Throws VaultError VAULT_OLD if the vault contains fewer changes or references than its mark. The mark is read first: if
 * another process changes the vault between the two reads, the vault only grows.
 */
export async function refuseOlder(dataFolder: string, read: () => Promise<Extent>): Promise<void> {
  const marked = markedExtent(dataFolder)
  const held = await read()
  if (held.changes >= marked.changes && held.references >= marked.references) return
  const path = vaultMark(dataFolder)
  throw new VaultError(
    'VAULT_OLD',
    `the vault in ${dataFolder} is an older copy: it holds ${held.changes} of ${marked.changes} changes of secrets and ` +
      `${held.references} of ${marked.references} references; put back the newest copy of the folder "vault". Where there ` +
      `is no newer one, delete ${path}: keepup goes on with this copy, without the secrets and references that were added ` +
      'since, and with the secrets that were removed since',
  )
}

/** Raises the mark to the content of the vault. Call it after the change is durable, while no other process changes the vault. */
export async function markExtent(dataFolder: string, key: Uint8Array, { changes, references }: Extent): Promise<void> {
  const marked = markedExtent(dataFolder)
  if (marked.changes === changes && marked.references === references) return
  // A person may have deleted the mark of an open vault, as the message of VAULT_OLD says.
  await replacePrivate(vaultMark(dataFolder), `${markOf(key)}\n${changes} ${references}\n`)
}

function markedExtent(dataFolder: string): Extent {
  const path = vaultMark(dataFolder)
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return { changes: 0, references: 0 }
  const [changes = 0, references = 0] = (linesOf(path)[1] ?? '').split(' ').map(Number)
  return { changes, references }
}

const linesOf = (path: string): string[] => readFileSync(path, 'latin1').split('\n')

export const vaultMissing = (dataFolder: string, what: string): VaultError =>
  new VaultError(
    'VAULT_MISSING',
    `the vault in ${dataFolder} cannot be used: ${what}; restore the folder "vault" from a backup. Where it is lost for ` +
      `good, delete ${vaultMark(dataFolder)}: keepup uses the vault that is there or makes a new one, and the secrets that it ` +
      'lacks stay unresolvable',
  )
