import { z } from 'zod'
import type { Diagnostic } from '../../../domain/document/markup/diagnostics.ts'
import type { BlockContent } from '../../../domain/document/model/block.ts'
import { forTool } from '../../../domain/document/runtime/agent-call.ts'
import { createForAgent } from '../../../domain/document/runtime/agent-create.ts'
import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import { asJson } from '../../../domain/log/json.ts'
import { defineTool, wellFormedText } from '../../workspace/tools/kit.ts'

/** Parses HTML or Markdown into blocks, with diagnostics of the dropped content. Rejects with `CONTENT_REFUSED`. */
export type ParseContent = (
  format: 'html' | 'markdown',
  text: string,
) => Promise<{ readonly blocks: readonly BlockContent[]; readonly diagnostics: readonly Diagnostic[] }>

interface Ports {
  readonly gateway: DocumentGateway
  readonly parse: ParseContent
}

export const createDocumentTool = ({ gateway, parse }: Ports) =>
  defineTool({
    name: 'create_document',
    description:
      'Make a document that people and agents edit together, from Markdown or HTML; an empty content makes an empty one.',
    parameters: z.strictObject({
      title: wellFormedText.trim().min(1).max(200),
      content: wellFormedText,
      format: z.enum(['markdown', 'html']).default('markdown'),
    }),
    effect: 'idempotent',
    timeLimitMs: 60_000,
    async run({ title, content, format }, context) {
      const isEmpty = content.trim() === ''
      const { blocks, diagnostics } = isEmpty
        ? { blocks: [], diagnostics: [] }
        : await forTool(() => parse(format, content))
      const made = await createForAgent(gateway, { title, source: isEmpty ? 'empty' : format, blocks }, context)
      const { documentId, revision, frontier } = made
      return {
        content: asJson({ doc_id: documentId, revision, doc_frontier: frontier, diagnostics }),
        documents: { [documentId]: frontier },
      }
    },
  })
