import { join } from 'node:path'

/** The folder of the vault in a data folder. A sandbox must hide it. */
export const vaultFolder = (dataFolder: string): string => join(dataFolder, 'vault')

export interface VaultFiles {
  readonly secrets: string
  readonly retired: string
  readonly key: string
  readonly references: string
  readonly lock: string
  /** The key that signs a log on servers: the machines that share the vault share it too. */
  readonly logKey: string
}

export function vaultFiles(dataFolder: string): VaultFiles {
  const at = (name: string) => join(vaultFolder(dataFolder), name)
  return {
    secrets: at('secrets.json'),
    retired: at('retired.json'),
    key: at('reference.key'),
    references: at('references.jsonl'),
    lock: join(dataFolder, 'locks', 'vault.db'),
    logKey: at('log.key'),
  }
}

// The cipher text of a record is bound to its purpose, so a record in the place of another does not decrypt.
export const PURPOSE = {
  secret: (name: string) => `secret ${name}`,
  retired: 'retired value',
  reference: (reference: string) => `reference ${reference}`,
}
