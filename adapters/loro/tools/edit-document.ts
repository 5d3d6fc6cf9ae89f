import { z } from 'zod'
import { editForAgent } from '../../../domain/document/runtime/agent-edit.ts'
import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import { asJson } from '../../../domain/log/json.ts'
import type { Clock } from '../../../domain/ports/index.ts'
import { defineTool } from '../../workspace/tools/kit.ts'
import { docId } from './doc-id.ts'

const Precondition = z.strictObject({
  span_id: z.string(),
  if_match_context_hash: z.string().describe('The hash that read_document shows for the span'),
})

// Checks only the shape. The gateway checks the rest, because it records its refusals.
const parameters = z.strictObject({
  doc_id: docId,
  doc_frontier: z.string().describe('The frontier that read_document has shown'),
  ops_xml: z
    .string()
    .describe(
      '<replace_spans annotation="why"><span span_id="…">inline HTML</span></replace_spans>, <insert_blocks ' +
        'after="span id or start" annotation="why">blocks as HTML</insert_blocks>, <delete_blocks annotation="why"><span ' +
        'span_id="…"/></delete_blocks>, or <ops> with several of them',
    ),
  preconditions: z.array(Precondition).describe('Exactly one for each span that ops_xml names, also by "after"'),
  retry_of: z
    .string()
    .optional()
    .describe('After CONFLICT: the retry_of of its message, for the edit that takes the place of the refused one'),
})

export const editDocumentTool = ({ gateway, clock }: { readonly gateway: DocumentGateway; readonly clock: Clock }) =>
  defineTool({
    name: 'edit_document',
    description:
      'Edit a document that others may be editing too. All of the edit is applied, or nothing. A span that others have ' +
      'changed since you read it gives CONFLICT with its new text.',
    parameters,
    effect: 'idempotent',
    timeLimitMs: 120_000,
    async run({ doc_id, retry_of, ...payload }, context) {
      const edit = { documentId: doc_id, ...payload, ...(retry_of === undefined ? {} : { retryOf: retry_of }) }
      const done = await editForAgent({ gateway, clock }, edit, context)
      return { content: asJson({ doc_id, ...done }), documents: { [doc_id]: done.applied_frontier } }
    },
  })
