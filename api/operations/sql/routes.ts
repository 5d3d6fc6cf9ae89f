import { createRoute, z } from '@hono/zod-openapi'
import { current } from '../../http/lag-headers.ts'
import { body, json, newApp, refusals, written } from '../../http/new-app.ts'
import type { Services } from '../services.ts'
import { askSql } from './ask.ts'
import { csvOf, ndjsonOf } from './formats.ts'
import { savedQuestions } from './saved.ts'
import { SavedQuestions, SqlAnswer, SqlQuestion } from './schemas.ts'

const ask = createRoute({
  method: 'post',
  path: '/v1/sql',
  operationId: 'askSql',
  summary: 'The answer to one SELECT over the tables and the log; nothing can be written',
  description:
    'JSON, or `text/csv` or `application/x-ndjson` where `Accept` asks for it. `keepup-more: true`: there were more rows or bytes than an answer may have.',
  request: { body: body(SqlQuestion) },
  responses: {
    200: {
      description: 'Rows',
      // To the typed client it is JSON, which is what it asks for.
      content: {
        'application/json': { schema: SqlAnswer },
        'text/csv': { schema: z.string() },
        'application/x-ndjson': { schema: z.string() },
      } as { 'application/json': { schema: typeof SqlAnswer } },
    },
    ...refusals,
  },
})

const saved = createRoute({
  method: 'get',
  path: '/v1/sql/questions',
  operationId: 'listSqlQuestions',
  summary: 'Questions that auditors ask, each with its SQL',
  responses: { 200: json(SavedQuestions, 'Questions'), ...refusals },
})

/** Questions in SQL. */
export function sqlRoutes(s: Services) {
  const { dialect } = s.auditor
  return newApp()
    .openapi(saved, (c) => c.json({ dialect, questions: [...savedQuestions(dialect)] }, 200))
    .openapi(ask, async (c) => {
      const accept = c.req.header('accept') ?? ''
      await current(c, s)
      const answer = await askSql(s, c.req.valid('json'))
      const text = accept.includes('text/csv') ? csvOf : accept.includes('application/x-ndjson') ? ndjsonOf : null
      if (text === null) return c.json(answer, 200)
      c.header('keepup-more', String(answer.more))
      c.header('content-type', text === csvOf ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson')
      return written(c.body(text(answer)))
    })
}
