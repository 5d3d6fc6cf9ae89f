import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { issuesOf, issuesText } from '../../domain/log/issues.ts'
import { Problem } from '../operations/problem.ts'
import { Id, ProblemBody } from '../operations/schemas.ts'
import { problemResponse } from './problem-response.ts'

/** The part of a request that contains a fault. */
type RequestPlace = 'body' | 'query' | 'path' | 'header'

const PLACES: Readonly<Record<string, RequestPlace>> = { json: 'body', query: 'query', param: 'path', header: 'header' }

/** Creates an app that answers invalid requests with problems. Every group of routes is such an app. */
export function newApp() {
  return new OpenAPIHono({
    defaultHook: (result, _c: Context) => {
      if (result.success) return
      const place = PLACES[result.target] ?? 'body'
      // Body members have no prefix; other members have the part of the request as a prefix.
      const errors = issuesOf(result.error).map((issue) => ({ in: place, ...issue }))
      const told = errors.map(({ path, message }) => ({ path: place === 'body' ? path : `${place} ${path}`, message }))
      return problemResponse(new Problem('INVALID_REQUEST', issuesText(told, 'the body'), errors))
    },
  })
}

/** A JSON answer in a route's description. */
export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

/** A JSON body in a route's description. */
export function body<T extends z.ZodType>(schema: T) {
  return { required: true, content: { 'application/json': { schema } } }
}

/** An answer in bytes or as a stream. The types of a route know JSON answers only. */
export const written = (response: Response): never => response as never

/** Every route may answer with a problem. */
export const refusals = {
  default: { description: 'Refused', content: { 'application/problem+json': { schema: ProblemBody } } },
}

export const RunId = z.object({ id: Id })
