import { CommandRejected } from '../agent/errors.ts'

/**
 * Is the request that is recorded under a key (undefined: none is) this one? Throws `IDEMPOTENCY_KEY_REUSED` where it is
 * another.
 */
export function isRepeated(recorded: string | undefined, commandId: string): boolean {
  if (recorded === undefined || recorded === commandId) return recorded === commandId
  const message = 'this Idempotency-Key came with another request before; draw a new one'
  throw new CommandRejected('IDEMPOTENCY_KEY_REUSED', message)
}
