import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { z } from 'zod'
import type { Right } from '../../domain/access/rights.ts'
import { echo } from '../../domain/log/issues.ts'
import { deprecatedMembers } from '../operations/deprecation.ts'
import { membersOf } from '../operations/operation.ts'
import { Problem } from '../operations/problem.ts'
import type { HttpCode } from './status.ts'

type Definitions = OpenAPIHono['openAPIRegistry']['definitions']

/** The declarations of a route: its right, names of query parameters and headers, and whether it requires a body. */
export interface Declared {
  readonly operation: string
  /** Null: the route declares none. */
  readonly right: Right | null
  /** Everyone may, also without a token. */
  readonly open: boolean
  readonly query: readonly string[]
  readonly header: readonly string[]
  /** The route accepts any query parameter. */
  readonly anyQuery: boolean
  readonly wantsBody: boolean
  /** Sentences about deprecated members, by name. */
  readonly deprecated: Readonly<Record<'query' | 'body', ReadonlyMap<string, string>>>
}

const isLoose = (schema: unknown): boolean =>
  schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodUnknown

const membersIn = (schema: unknown) => membersOf(schema as z.ZodType | undefined)
const namesOf = (schema: unknown) => Object.keys(membersIn(schema))

/**
 * The declarations of each route, by `METHOD /path/:id`. Generating the OpenAPI document for this would take too long
 * for a command.
 */
export function declaredOf(definitions: Definitions): ReadonlyMap<string, Declared> {
  const all = definitions.flatMap((one) => {
    if (one.type !== 'route') return []
    const { method, path, request, operationId, security } = one.route
    const { 'x-keepup-right': right } = one.route as { readonly 'x-keepup-right'?: Right }
    const declared = {
      operation: operationId ?? path,
      right: right ?? null,
      open: security !== undefined,
      query: namesOf(request?.query),
      anyQuery: isLoose(request?.query),
      header: namesOf(request?.headers),
      wantsBody: request?.body?.required === true,
      deprecated: {
        query: deprecatedMembers(membersIn(request?.query)),
        body: deprecatedMembers(
          membersIn((request?.body?.content['application/json'] as { schema?: unknown } | undefined)?.schema),
        ),
      },
    }
    return [[`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, declared] as const]
  })
  const routes = new Map<string, Declared>()
  for (const [name, declared] of all) {
    // Hono would answer with the first one, also to requests that are meant for the second.
    if (routes.has(name)) throw new Error(`two routes are called ${name}; give one of them another path`)
    routes.set(name, declared)
  }
  return routes
}

/** Finds the declarations of the route of a request. */
export type FindRoute = (c: Context) => Declared | undefined

/** The declarations of an app's routes. Reads them at the first request, when the app has all its routes. */
export function routesOf(definitions: () => Definitions): FindRoute {
  let routes: ReadonlyMap<string, Declared> | null = null
  return (c) => {
    routes ??= declaredOf(definitions())
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
    return routes.get(`${method} ${matchedRoutes(c).at(-1)?.path ?? ''}`)
  }
}

/** Headers that change the meaning of a request. A route that ignores one must refuse it. */
const MEANING = ['if-match', 'idempotency-key']

/**
 * Refuses undeclared query parameters and {@link MEANING} headers, so that a typing error is not silent. Also refuses
 * requests without a required body.
 */
export function declaredGuard(find: FindRoute): MiddlewareHandler {
  return async (c, next) => {
    const asked = Object.keys(c.req.query())
    const reads = c.req.method === 'GET'
    const meant = reads ? [] : MEANING.filter((name) => c.req.header(name) !== undefined)
    const bodiless = !reads && c.req.raw.body === null
    if (asked.length + meant.length === 0 && !bodiless) return next()
    const route = find(c)
    if (route === undefined) return next()
    const unknown = asked.find((name) => !route.query.includes(name))
    if (unknown !== undefined && !route.anyQuery) {
      const there = route.query.length ? `known are ${route.query.join(', ')}` : 'this route takes none'
      throw new Problem('INVALID_REQUEST', `unknown query parameter "${echo(unknown)}"; ${there}`)
    }
    const surplus = meant.find((name) => !route.header.includes(name))
    if (surplus !== undefined) {
      throw new Problem('INVALID_REQUEST', `header ${surplus}: header not supported here; leave it out`)
    }
    if (bodiless && route.wantsBody)
      throw new Problem<HttpCode>('INVALID_JSON', 'the body is missing; send a JSON object')
    await next()
  }
}
