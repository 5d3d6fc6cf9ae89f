import { contextHash } from '../model/context-hash.ts'
import type { DocumentReader } from '../model/view.ts'
import type { FailedPrecondition, PreconditionFailure } from './answers.ts'
import type { Precondition } from './request.ts'

/** All failed preconditions, in request order. */
export const failedPreconditions = (
  preconditions: readonly Precondition[],
  document: DocumentReader,
): readonly FailedPrecondition[] =>
  preconditions.flatMap((precondition) => {
    const reason = failure(precondition, document)
    return reason === null ? [] : [{ span_id: precondition.span_id, reason }]
  })

function failure(
  { span_id, if_match_context_hash }: Precondition,
  document: DocumentReader,
): PreconditionFailure | null {
  const span = document.span(span_id)
  if (span.kind === 'missing') return 'span_missing'
  if (span.kind === 'unreadable') return 'unverified'
  return contextHash(span.blockId, span.text) === if_match_context_hash ? null : 'hash_mismatch'
}
