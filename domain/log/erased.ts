import type { SealedEvent } from './envelope.ts'
import { LogError } from './errors.ts'

// Like chain.ts without zod, for a writer's thread.

/** The type of the fact that bodies were emptied. */
export const ERASED_FACT = 'erased'

/** The content of an `erased` fact: the erased bodies of its own stream, and the reason. */
export interface ErasedFact {
  readonly reason: string
  readonly bodies: readonly { readonly revision: number; readonly bodyHash: string }[]
}

/** The body to empty, and the index of its fact in the batch that is being appended. */
export interface Erasure {
  readonly revision: number
  readonly bodyHash: string
  readonly fact: number
}

/**
 * Reads an `erased` fact; null where it is none that can be read here: it lies in the blob store, is enciphered, or of
 * another shape. What it names then shows as a problem, which is the safe side.
 */
export function erasedFact({ header, body }: SealedEvent): ErasedFact | null {
  if (header.type !== ERASED_FACT || !body || header.body.cipher) return null
  try {
    const fact = JSON.parse(new TextDecoder().decode(body)) as Partial<ErasedFact>
    const { reason, bodies } = fact
    return typeof reason === 'string' && Array.isArray(bodies) && bodies.every(isNamed) ? { reason, bodies } : null
  } catch {
    return null
  }
}

const isNamed = (named: unknown): boolean => {
  const { revision, bodyHash } = (named ?? {}) as Record<string, unknown>
  return Number.isSafeInteger(revision) && typeof bodyHash === 'string'
}

/**
 * The bodies that a batch's `erased` facts name, each once: what a log empties in the transaction of the append, where the
 * event at the revision has this very body. Throws `APPEND_INVALID` where a fact names none.
 */
export function erasuresOf(batch: readonly SealedEvent[]): readonly Erasure[] {
  const found = new Map<string, Erasure>()
  for (const [index, event] of batch.entries()) {
    if (event.header.type !== ERASED_FACT) continue
    const fact = erasedFact(event)
    if (fact === null || fact.bodies.length === 0)
      throw new LogError(
        'APPEND_INVALID',
        `the erased fact at revision ${event.header.revision} of ${event.header.stream} names no body; name some, inline`,
      )
    for (const named of fact.bodies) found.set(`${named.revision}:${named.bodyHash}`, { ...named, fact: index })
  }
  return [...found.values()]
}

/** Refusal of a fact that names what is not there. */
export const noSuchBody = (stream: string, revision: number) =>
  new LogError(
    'APPEND_INVALID',
    `no event ${revision} of ${stream} has the body that is to be erased; name stored ones, each with its hash`,
  )

/** Refusal of every erasure, by a log that can empty nothing. */
export const eraseImpossible = () =>
  new LogError(
    'ERASE_IMPOSSIBLE',
    'this log cannot empty a stored body, as no event store can: on servers nothing is erased',
  )
