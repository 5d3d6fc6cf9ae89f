import type { MiddlewareHandler } from 'hono'
import type { FindRoute } from './declared-guard.ts'

/** The header that names the deprecated members of a request. */
export const DEPRECATED = 'keepup-deprecated'

/** Tells the sender of a request which of its members are deprecated. */
export function deprecationHeader(find: FindRoute): MiddlewareHandler {
  return async (c, next) => {
    const route = find(c)
    const { query, body } = route?.deprecated ?? {}
    const used = Object.keys(c.req.query()).flatMap((name) => query?.get(name) ?? [])
    if (body !== undefined && body.size > 0 && c.req.raw.body !== null) {
      // The guard before has refused a body that is no JSON. Hono keeps the parsed body for the route.
      const sent: unknown = await c.req.json().catch(() => null)
      used.push(...Object.keys(Object(sent)).flatMap((name) => body.get(name) ?? []))
    }
    await next()
    if (used.length > 0) c.res.headers.set(DEPRECATED, used.join('. '))
  }
}
