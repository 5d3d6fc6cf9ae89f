import { z } from 'zod'
import { defineTool } from '../../workspace/tools/kit.ts'

/** A document in a list. Times are ISO 8601. */
export interface ListedDocument {
  readonly documentId: string
  readonly title: string
  readonly revision: number
  readonly updatedAt: string
  readonly updatedBy: string
}

/** A page of documents in the order of their creation. `next` null: this is the last page. */
export type ListDocuments = (page: { readonly after?: string; readonly limit: number }) => Promise<{
  readonly documents: readonly ListedDocument[]
  readonly next: string | null
}>

const LIMIT = 100

export const listDocumentsTool = (list: ListDocuments) =>
  defineTool({
    name: 'list_documents',
    description: 'List the documents that people and agents edit together, in the order of their creation.',
    parameters: z.strictObject({
      after: z.string().max(256).optional().describe('The "next" of the page before; absent: the first page'),
    }),
    effect: 'pure',
    timeLimitMs: 30_000,
    async run({ after }) {
      const { documents, next } = await list({ limit: LIMIT, ...(after === undefined ? {} : { after }) })
      const shown = documents.map(({ documentId: doc_id, title, revision, updatedAt, updatedBy }) => ({
        ...{ doc_id, title, revision, updatedAt, updatedBy },
      }))
      return { content: { documents: shown, ...(next === null ? {} : { next }) } }
    },
  })
