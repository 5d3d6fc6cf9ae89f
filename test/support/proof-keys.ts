import fc from 'fast-check'
import { COSIGNATURE, ED25519, isKeyName, type NoteSigner, noteSigner } from '../../domain/log/proof/note.ts'

export const logSigner = (name: string, n = 1): NoteSigner => noteSigner(name, Buffer.alloc(32, n), ED25519)
export const cosigner = (name: string, n = 100): NoteSigner => noteSigner(name, Buffer.alloc(32, n), COSIGNATURE)

/** Names of keys: any that the format allows, also with quotes, dollar signs and characters of other planes. */
export const keyName: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 16 }),
    fc.constantFrom('$(id)', "'", '`x`', '"', '#', 'none', 'all', '-n', '—', '\u{1f600}', '\ufeff'),
  )
  .filter(isKeyName)
