import { createRoute, z } from '@hono/zod-openapi'
import { mustHave } from '../operations/access/identity.ts'
import { checkedCursor } from '../operations/events/filter.ts'
import { eventLines } from '../operations/export/event-lines.ts'
import { tableLines } from '../operations/export/table-lines.ts'
import { CursorText, Digits } from '../operations/schemas.ts'
import type { Services } from '../operations/services.ts'
import { identityIn } from './access-guards.ts'
import { newApp, refusals, written } from './new-app.ts'
import { streamResponse } from './stream-response.ts'

const events = createRoute({
  method: 'get',
  path: '/v1/exports/events',
  operationId: 'exportEvents',
  'x-keepup-right': 'log.read',
  summary: 'The events of the log as rows for analysts, as NDJSON; `keepup export --events` writes files of them',
  description:
    'Needs `bodies.read` too. The first line is `{"export":"events","schema","logId","head"}`: the rows end at the position `head`. Every other ' +
    'line has the columns of an export, the `cursor` of the event, its `trace`, and for an erasure ranges of positions of events whose payload may have ' +
    'changed (`touches`: `[[first, last], …]`).',
  request: {
    query: z.strictObject({
      after: CursorText.optional(),
      last: Digits.optional().meta({
        type: 'integer',
        description: 'The position of the last event; absent: the head',
      }),
    }),
  },
  responses: {
    200: { description: 'Rows', content: { 'application/x-ndjson': { schema: z.string() } } },
    ...refusals,
  },
})

const tables = createRoute({
  method: 'get',
  path: '/v1/exports/tables',
  operationId: 'exportTables',
  'x-keepup-right': 'tables.ask',
  summary:
    'The rows of all tables at one position of the log, as NDJSON; `keepup export --tables` writes files of them',
  description:
    'The first line is `{"export":"tables","schema","logId","position"}`. Before the rows of each table comes `{"table","columns"}`. ' +
    'A row is a list of cells in the order of the columns.',
  responses: {
    200: { description: 'Rows', content: { 'application/x-ndjson': { schema: z.string() } } },
    ...refusals,
  },
})

/** Rows for files that analysts read. */
export function bulkExportRoutes(s: Services) {
  return newApp()
    .openapi(tables, async () => written(streamResponse(tableLines(s), { format: 'ndjson' })))
    .openapi(events, async (c) => {
      const { after, last } = c.req.valid('query')
      const identity = identityIn(c)
      if (identity !== null) mustHave(s, identity, 'bodies.read', { operation: 'exportEvents', run: null })
      const lines = eventLines(s, await checkedCursor(s.log, after), last)
      return written(streamResponse(lines, { format: 'ndjson' }))
    })
}
