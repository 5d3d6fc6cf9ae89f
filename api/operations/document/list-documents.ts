import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { selectDocuments as documentRows } from '../../../projections/index.ts'
import type { Page } from '../read-model.ts'
import { camelCased, cursorIn, pageOf, positionAfter } from '../rows.ts'
import type { Services } from '../services.ts'
import type { DocumentSummary } from './schemas.ts'

/** Documents in the order of their creation. The tables must be caught up. */
export async function listDocuments({ log, read }: Pick<Services, 'log' | 'read'>, { after, limit }: Page) {
  const place = await positionAfter(log, after)
  const { position, value } = await read.rows((db) =>
    documentRows(db, { limit: limit + 1, ...(place === undefined ? {} : { after: place }) }),
  )
  const { page, next } = await pageOf(value, limit, ({ id }) => cursorIn(log, documentStream(id), 0))
  const documents = page.map(({ id, started: _, ...row }) => ({
    ...{ documentId: id, ...camelCased(row) },
    source: row.source as DocumentSummary['source'],
  }))
  return { position, documents, next }
}
