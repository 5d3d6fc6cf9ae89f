import type { ErrorRecoveryPolicy as Recorded } from '../../domain/calls/policy-schema.ts'
import { Problem } from '../operations/problem.ts'

/**
 * Seed 000, 5.10. A run starts without failure signatures and stores its own in the log, so `errorSignatureCache` must
 * be empty.
 */
export interface ErrorRecoveryPolicy extends Recorded {
  errorSignatureCache: Set<string>
}

/** The recorded policy. Throws a Problem if there are signatures, because they would be lost. */
export function retryOf({ errorSignatureCache, ...recorded }: Partial<ErrorRecoveryPolicy>): Partial<Recorded> {
  if (errorSignatureCache === undefined || errorSignatureCache.size === 0) return recorded
  throw new Problem(
    'SIGNATURES_REFUSED',
    'retry.errorSignatureCache: a run keeps the signatures of its failures itself; give an empty set, or leave it out',
  )
}
