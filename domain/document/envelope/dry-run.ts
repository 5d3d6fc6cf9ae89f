import { createHash } from 'node:crypto'
import { echo } from '../../log/issues.ts'
import type { Canonical } from '../markup/canonical.ts'
import { schemaChecked } from '../markup/schema.ts'
import type { BlockContent } from '../model/block.ts'
import type { Edit } from '../model/edits.ts'
import type { DocumentReader, SpanView } from '../model/view.ts'
import type { NormalOperation } from './normal-operations.ts'
import { START } from './operations.ts'

/** A violation of the schema. The message says what to send instead. */
export class SchemaFault extends Error {}

/**
 * Tries operations against the document without changing it. Returns the edits that apply them, in order. Throws
 * {@link SchemaFault}.
 *
 * @param seed the source of new block ids: equal for repetitions of one request, different for different requests
 */
export function dryRun(
  operations: readonly NormalOperation[],
  document: DocumentReader,
  seed: string,
): readonly Edit[] {
  const deleted = new Set<string>()
  const newIds = blockIds(seed, document)
  const target = (spanId: string): Extract<SpanView, { text: string }> => {
    const span = document.span(spanId)
    if (!('text' in span)) throw new SchemaFault(`the span "${echo(spanId)}" cannot be edited`)
    if (deleted.has(span.blockId))
      throw new SchemaFault(`the request itself deletes "${echo(spanId)}" before it uses it`)
    return span
  }
  const block = (spanId: string): string => {
    const span = target(spanId)
    if (span.kind === 'cell') throw new SchemaFault(`"${echo(spanId)}" is a table cell; name a block`)
    return span.blockId
  }
  const editsOf = (operation: NormalOperation): readonly Edit[] => {
    switch (operation.kind) {
      case 'replace_spans':
        return operation.spans.map(({ spanId, content }) => {
          const { kind, type } = target(spanId)
          if (content.misplaced !== null)
            throw new SchemaFault(`a replacement holds <${content.misplaced.what}>; it may hold inline elements only`)
          if (kind === 'block' && (type === 'table' || type === 'divider'))
            throw new SchemaFault(`"${echo(spanId)}" is a ${type}, which has no text; name a cell or another block`)
          return { kind: 'replace', spanId, runs: content.runs }
        })
      case 'insert_blocks': {
        const after = operation.after === START ? null : block(operation.after)
        return [{ kind: 'insert', after, blocks: checked(operation.content).map((one) => ({ ...one, id: newIds() })) }]
      }
      case 'delete_blocks':
        return operation.spanIds.map((spanId) => {
          const blockId = block(spanId)
          deleted.add(blockId)
          return { kind: 'delete', blockId }
        })
    }
  }
  return operations.flatMap(editsOf)
}

/** Returns the blocks; throws SchemaFault for content outside the document model. */
function checked(content: Canonical): readonly BlockContent[] {
  const { blocks, fault } = schemaChecked(content)
  if (fault !== null) throw new SchemaFault(fault)
  return blocks
}

/** Generates ids of new blocks: `b` and 24 hex digits. Skips ids that the document already has. */
function blockIds(seed: string, document: DocumentReader): () => string {
  let next = 0
  return () => {
    for (;;) {
      const id = `b${createHash('sha256').update(`${seed}\n${next++}`).digest('hex').slice(0, 24)}`
      if (document.span(id).kind === 'missing') return id
    }
  }
}
