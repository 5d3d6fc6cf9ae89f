import type { AnyAggregate } from '../aggregate.ts'

/**
 * Is the request that is recorded under a key (undefined: none is) this one? Throws `IDEMPOTENCY_KEY_REUSED` where it is
 * another.
 */
export function isRepeated(
  { reject }: Pick<AnyAggregate, 'reject'>,
  recorded: string | undefined,
  commandId: string,
): boolean {
  if (recorded === undefined || recorded === commandId) return recorded === commandId
  throw reject('IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key came with another request before; draw a new one')
}
