import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { formatSecretKey, parseSecretKey } from '../../domain/log/proof/note.ts'
import type { SigningKeys } from '../../domain/ports/proof.ts'
import { exclusively } from '../files/exclusive.ts'
import { makeFolder } from '../files/folders.ts'
import { VaultError } from './error.ts'
import { checkPrivate, createPrivate, realPath, replacePrivate } from './private-file.ts'

/** The log's secret keys in a file of mode 0600: one key a line, the newest first. `lock`: the file that guards changes. */
export function logKeyFile(file: string, lock?: string): SigningKeys {
  const text = () => (checkPrivate(file) ? readFileSync(file, 'utf8') : '')
  return {
    async read() {
      try {
        return text()
          .split('\n')
          .filter((line) => line !== '')
          .map(parseSecretKey)
      } catch (error) {
        if (error instanceof VaultError) throw error
        throw new VaultError(
          'VAULT_KEY',
          `the log's key in ${file} cannot be read (${(error as Error).message}); put back the file from a backup, or ` +
            'remove it: a new key then begins a new origin',
          { cause: error },
        )
      }
    },
    async add(key) {
      makeFolder(dirname(file))
      const real = realPath(file)
      await exclusively(lock ?? `${real}.lock`, async () => {
        const before = text()
        const after = `${formatSecretKey(key)}\n${before}`
        await (checkPrivate(real) ? replacePrivate(real, after) : createPrivate(real, after))
      })
    },
  }
}
