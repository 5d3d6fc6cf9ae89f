import type { Canonical, CanonicalSpan } from '../markup/canonical.ts'
import type { Diagnostics } from '../markup/diagnostics.ts'
import { normalizeBlocks, normalizeSpan } from '../markup/normalize.ts'
import { isBlank, sanitize } from '../markup/sanitize.ts'
import { isElement, type Node } from '../markup/tree.ts'
import type { DocumentReader } from '../model/view.ts'
import type { DeleteBlocks, EnvelopeOperation, InsertBlocks, ReplaceSpans } from './operations.ts'

/** An operation with content in canonical form. */
export type NormalOperation =
  | (Omit<ReplaceSpans, 'spans'> & { readonly spans: readonly { spanId: string; content: CanonicalSpan }[] })
  | (Omit<InsertBlocks, 'content'> & { readonly content: Canonical })
  | DeleteBlocks

/** Sanitizes the operations. Null: sanitizing left an operation or the whole payload empty. */
export function sanitizeOperations(
  operations: readonly EnvelopeOperation[],
  found: Diagnostics,
): readonly EnvelopeOperation[] | null {
  let emptied = false
  const clean = (content: readonly Node[]): readonly Node[] => {
    const kept = sanitize(content, found)
    emptied ||= isBlank(kept) && content.some((node) => isElement(node) || node.trim() !== '')
    return kept
  }
  const cleanedOf = (operation: EnvelopeOperation): EnvelopeOperation => {
    switch (operation.kind) {
      case 'replace_spans':
        return { ...operation, spans: operation.spans.map((span) => ({ ...span, content: clean(span.content) })) }
      case 'insert_blocks':
        return { ...operation, content: clean(operation.content) }
      case 'delete_blocks':
        return operation
    }
  }
  const cleaned = operations.map(cleanedOf)
  return emptied || cleaned.every(saysNothing) ? null : cleaned
}

function saysNothing(operation: EnvelopeOperation): boolean {
  if (operation.kind === 'insert_blocks') return isBlank(operation.content)
  return operation.kind === 'replace_spans' && operation.spans.every(({ content }) => isBlank(content))
}

/** Converts the operations to canonical form. Spans of code blocks keep their white space. */
export const normalizeOperations = (
  operations: readonly EnvelopeOperation[],
  document: DocumentReader,
): readonly NormalOperation[] =>
  operations.map((operation): NormalOperation => {
    if (operation.kind === 'insert_blocks') return { ...operation, content: normalizeBlocks(operation.content) }
    if (operation.kind === 'delete_blocks') return operation
    const spans = operation.spans.map(({ spanId, content }) => {
      const span = document.span(spanId)
      return { spanId, content: normalizeSpan(content, span.kind === 'block' && span.type === 'code') }
    })
    return { ...operation, spans }
  })
