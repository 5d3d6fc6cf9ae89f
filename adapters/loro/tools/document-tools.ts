import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import type { Clock, Tool } from '../../../domain/ports/index.ts'
import { createDocumentTool, type ParseContent } from './create-document.ts'
import { commentDocumentTool, listCommentsTool, suggestChangeTool } from './discuss-document.ts'
import { editDocumentTool } from './edit-document.ts'
import { type ListDocuments, listDocumentsTool } from './list-documents.ts'
import { readDocumentTool } from './read-document.ts'

/** The services that the document tools need. */
export interface DocumentToolPorts {
  readonly gateway: DocumentGateway
  readonly clock: Clock
  readonly list: ListDocuments
  readonly parse: ParseContent
}

/**
 * The tools by which agents edit documents together with people. All changes go through the gateway (seed 000, 5.8).
 */
export const documentTools = (ports: DocumentToolPorts): readonly Tool[] => [
  listDocumentsTool(ports.list),
  readDocumentTool(ports.gateway),
  createDocumentTool(ports),
  editDocumentTool(ports),
  listCommentsTool(ports.gateway),
  commentDocumentTool(ports.gateway),
  suggestChangeTool(ports.gateway),
]
