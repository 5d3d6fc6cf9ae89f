import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { issuesOf, issuesText } from '../../domain/log/issues.ts'
import { Problem } from '../operations/problem.ts'
import { Id, ProblemBody } from '../operations/schemas.ts'
import { problemResponse } from './problem-response.ts'

/** Where in a request a fault stands. */
type RequestPlace = 'body' | 'query' | 'path' | 'header'

const PLACES: Readonly<Record<string, RequestPlace>> = { json: 'body', query: 'query', param: 'path', header: 'header' }

/** An app whose refused requests become problems. Every group of routes is one. */
export function newApp() {
  return new OpenAPIHono({
    defaultHook: (result, _c: Context) => {
      if (result.success) return
      const place = PLACES[result.target] ?? 'body'
      // A member of the body is named as it stands there; what stands elsewhere says where.
      const errors = issuesOf(result.error).map((issue) => ({ in: place, ...issue }))
      const told = errors.map(({ path, message }) => ({ path: place === 'body' ? path : `${place} ${path}`, message }))
      return problemResponse(new Problem('INVALID_REQUEST', issuesText(told, 'the body'), errors))
    },
  })
}

/** A JSON answer of a route's description. */
export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

/** A JSON body of a route's description. */
export function body<T extends z.ZodType>(schema: T) {
  return { required: true, content: { 'application/json': { schema } } }
}

/** An answer that a route writes itself, as bytes or as a stream: only the route's description tells its type. */
export const written = (response: Response): never => response as never

/** Every route may answer with a problem. */
export const refusals = {
  default: { description: 'Refused', content: { 'application/problem+json': { schema: ProblemBody } } },
}

export const RunId = z.object({ id: Id })
