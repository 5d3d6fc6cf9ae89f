import { defaultKeyFile, type KeySource } from '../../../adapters/vault/keys.ts'
import type { Config } from '../config/settings.ts'

/** The source of the vault's keys according to the settings. */
export const vaultKeys = ({ vaultKey, vaultKeyFile }: Pick<Config, 'vaultKey' | 'vaultKeyFile'>): KeySource => ({
  text: vaultKey,
  file: vaultKeyFile ?? defaultKeyFile(process.env),
})
