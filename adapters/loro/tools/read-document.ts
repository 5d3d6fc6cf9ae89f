import { z } from 'zod'
import { ToolError } from '../../../domain/calls/errors.ts'
import { forTool } from '../../../domain/document/runtime/agent-call.ts'
import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import { asJson } from '../../../domain/log/json.ts'
import { defineTool } from '../../workspace/tools/kit.ts'
import { blocksAfter } from './block-page.ts'
import { docId } from './doc-id.ts'

export const readDocumentTool = (gateway: DocumentGateway) =>
  defineTool({
    name: 'read_document',
    description:
      'Read a document: its frontier, and its blocks in order with span id, context hash and content (inline HTML, as ' +
      'edit_document takes it). A table shows a span for each cell. A long document comes in parts.',
    parameters: z.strictObject({
      doc_id: docId,
      after: z.string().max(512).optional().describe('Show the blocks after this one: the "next" of the part before'),
    }),
    effect: 'pure',
    timeLimitMs: 60_000,
    async run({ doc_id, after }, { redact }) {
      const { title, revision, frontier, blocks } = await forTool(() => gateway.read(doc_id))
      const page = blocksAfter(blocks, after, redact)
      if (page === null)
        throw new ToolError(
          'RESOURCE_NOT_FOUND',
          `after: the document has no block ${JSON.stringify(after)} now; read it anew`,
        )
      return {
        content: asJson({ doc_id, title, revision, doc_frontier: frontier, ...page }),
        documents: { [doc_id]: frontier },
      }
    },
  })
