import { defaultKeyFile, type KeySource } from '../../../adapters/vault/keys.ts'
import type { Config } from '../config/config.ts'

/** Where the settings say that the vault's keys are. */
export const vaultKeys = ({ vaultKey, vaultKeyFile }: Pick<Config, 'vaultKey' | 'vaultKeyFile'>): KeySource => ({
  text: vaultKey,
  file: vaultKeyFile ?? defaultKeyFile(process.env),
})
