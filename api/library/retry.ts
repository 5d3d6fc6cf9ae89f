import type { ErrorRecoveryPolicy as Recorded } from '../../domain/agent/definition/spec.ts'
import { Problem } from '../operations/problem.ts'

/**
 * Seed 000, 5.10. A run begins with no signature of a failure and keeps its own in the log, so `errorSignatureCache` can
 * only be an empty one.
 */
export interface ErrorRecoveryPolicy extends Recorded {
  errorSignatureCache: Set<string>
}

/** The recorded policy. Throws a Problem for signatures, which would be lost. */
export function retryOf({ errorSignatureCache, ...recorded }: Partial<ErrorRecoveryPolicy>): Partial<Recorded> {
  if (errorSignatureCache === undefined || errorSignatureCache.size === 0) return recorded
  throw new Problem(
    'SIGNATURES_REFUSED',
    'retry.errorSignatureCache: a run keeps the signatures of its failures itself; give an empty set, or leave it out',
  )
}
