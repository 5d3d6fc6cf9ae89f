import { join } from 'node:path'

/** The folder of the vault in a data folder: what a sandbox must hide at least. */
export const vaultFolder = (dataFolder: string): string => join(dataFolder, 'vault')

export interface VaultFiles {
  readonly secrets: string
  readonly retired: string
  readonly key: string
  readonly references: string
  /** Of old vaults. */
  readonly noted: string
  readonly lock: string
}

export function vaultFiles(dataFolder: string): VaultFiles {
  const at = (name: string) => join(vaultFolder(dataFolder), name)
  return {
    secrets: at('secrets.json'),
    retired: at('retired.json'),
    key: at('reference.key'),
    references: at('references.jsonl'),
    noted: at('noted.json'),
    lock: join(dataFolder, 'locks', 'vault.db'),
  }
}

// A record is bound to what it is for.
export const PURPOSE = {
  secret: (name: string) => `secret ${name}`,
  retired: 'retired value',
  reference: (reference: string) => `reference ${reference}`,
}
