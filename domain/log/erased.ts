import type { SealedEvent } from './envelope.ts'
import { LogError } from './errors.ts'
import { unsalted } from './seal.ts'

// Without zod, like chain.ts, because the writer thread imports this file.

export const ERASED_FACT = 'erased'

/** The content of an `erased` fact: the erased bodies of its own stream, and the reason with its code. */
export interface ErasedFact {
  readonly code: string
  readonly reason: string
  readonly bodies: readonly { readonly revision: number; readonly bodyHash: string }[]
}

/** A body to empty. `fact`: the index of its fact in the batch. */
export interface Erasure {
  readonly revision: number
  readonly bodyHash: string
  readonly fact: number
}

/**
 * Parses an `erased` fact. Null for an event of another type, and for a fact that is in the blob store, encrypted or
 * malformed. Verification reports the bodies of an unreadable fact as problems, which is the safe side.
 */
export function erasedFact({ header, body }: Pick<SealedEvent, 'header' | 'body'>): ErasedFact | null {
  if (header.type !== ERASED_FACT || !body || header.body.cipher) return null
  try {
    const fact = JSON.parse(new TextDecoder().decode(unsalted(body))) as Partial<ErasedFact>
    const { code, reason, bodies } = fact
    const isFact = typeof code === 'string' && typeof reason === 'string' && Array.isArray(bodies)
    return isFact && bodies.every(isNamed) ? { code, reason, bodies } : null
  } catch {
    return null
  }
}

const isNamed = (named: unknown): boolean => {
  const { revision, bodyHash } = (named ?? {}) as Record<string, unknown>
  return Number.isSafeInteger(revision) && typeof bodyHash === 'string'
}

/**
 * The bodies that a batch's `erased` facts name, each once. The log empties them in the transaction of the append, if
 * the event at the revision has that body hash. Throws `APPEND_INVALID` when a fact names no body.
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

/** The error for a fact that names a body that is not stored. */
export const noSuchBody = (stream: string, revision: number) =>
  new LogError(
    'APPEND_INVALID',
    `no event ${revision} of ${stream} has the body that is to be erased; name stored ones, each with its hash`,
  )

/** The error of a log that cannot empty stored bodies. */
export const eraseImpossible = () =>
  new LogError(
    'ERASE_IMPOSSIBLE',
    'this log cannot empty a stored body, as no event store can: on servers nothing is erased',
  )
