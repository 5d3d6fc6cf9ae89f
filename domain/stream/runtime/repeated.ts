import type { AnyAggregate } from '../aggregate.ts'

/** Whether the request recorded under a key is this request. Throws `IDEMPOTENCY_KEY_REUSED` for another one. */
export function isRepeated(
  { reject }: Pick<AnyAggregate, 'reject'>,
  recorded: string | undefined,
  commandId: string,
): boolean {
  if (recorded === undefined || recorded === commandId) return recorded === commandId
  throw reject('IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key came with another request before; draw a new one')
}
