import { document, gateway } from '../../domain/document/stream/aggregate.ts'
import { projectionOf } from '../engine/changes/projection.ts'
import { comments, documents, envelopes } from './rows.ts'
import { documentTables } from './tables.ts'

export const documentRows = projectionOf(document, documentTables, (event) => [
  ...documents(event),
  ...envelopes(event),
  ...comments(event),
])

/** Requests for unknown documents. Their rows are in the table of all requests. */
export const gatewayRows = projectionOf(gateway, {}, envelopes)
