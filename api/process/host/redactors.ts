import { Lru } from '../../../adapters/memory/lru.ts'
import { createRedactor, type Redactor, type RedactorOptions } from '../../../domain/secrets/redactor.ts'

/** Runs that are given the same secrets share one; few of them differ at a time. One of 200 secrets takes 32 MB. */
const KEPT = 4

const kept = new Lru<string, Redactor>(KEPT)

/**
 * A redactor, and the finder of its known texts, made once for the same secrets: it takes longer to make than to hide
 * what stands in the words of a whole turn, and each run asks for one several times.
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
