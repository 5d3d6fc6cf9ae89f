import { createRoute, z } from '@hono/zod-openapi'
import type { Services } from '../operations/services.ts'
import { askSql } from '../operations/sql/ask.ts'
import { csvOf, ndjsonOf } from '../operations/sql/formats.ts'
import { SqlAnswer, SqlQuestion } from '../operations/sql/schemas.ts'
import { current } from './lag-headers.ts'
import { body, newApp, refusals, written } from './new-app.ts'

const ask = createRoute({
  method: 'post',
  path: '/v1/sql',
  operationId: 'askSql',
  'x-keepup-right': 'tables.ask',
  summary: 'The answer to one SELECT over the tables and the log; nothing can be written',
  description:
    'JSON, or `text/csv` or `application/x-ndjson` where `Accept` asks for it. `keepup-more: true`: there were more rows or bytes than an answer may have.',
  request: { body: body(SqlQuestion) },
  responses: {
    200: {
      description: 'Rows',
      // The typed client asks for JSON.
      content: {
        'application/json': { schema: SqlAnswer },
        'text/csv': { schema: z.string() },
        'application/x-ndjson': { schema: z.string() },
      } as { 'application/json': { schema: typeof SqlAnswer } },
    },
    ...refusals,
  },
})

/** Answers to questions in SQL, as JSON or as a file of rows. */
export function sqlRoutes(s: Services) {
  return newApp().openapi(ask, async (c) => {
    const accept = c.req.header('accept') ?? ''
    await current(c, s)
    const answer = await askSql(s, c.req.valid('json'), c.req.raw.signal)
    const text = accept.includes('text/csv') ? csvOf : accept.includes('application/x-ndjson') ? ndjsonOf : null
    if (text === null) return c.json(answer, 200)
    c.header('keepup-more', String(answer.more))
    c.header('content-type', text === csvOf ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson')
    return written(c.body(text(answer)))
  })
}
