import { Lru } from '../../../adapters/memory/lru.ts'
import { createRedactor, type Redactor, type RedactorOptions } from '../../../domain/secrets/redactor.ts'

/**
 * Runs with the same secrets share a redactor, and few sets differ at a time. A redactor of 200 secrets takes 32 MB.
 */
const KEPT = 4

const kept = new Lru<string, Redactor>(KEPT)

/**
 * A cached redactor for a set of secrets. Creating one takes longer than redacting the text of a whole turn, and each
 * run requests one several times.
 */
export function sharedRedactor(options: RedactorOptions): Redactor {
  const { key, known, patterns = [] } = options
  const id = JSON.stringify([Buffer.from(key).toString('hex'), known, patterns])
  const found = kept.get(id)
  if (found !== undefined) return found
  const made = createRedactor(options)
  kept.set(id, made)
  return made
}
