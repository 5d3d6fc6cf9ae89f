import type { Context, MiddlewareHandler } from 'hono'
import { identityIn } from './access-guards.ts'
import type { FindRoute } from './declared-guard.ts'

/** An answered request, for the log of the process. */
export interface AnsweredRequest {
  /** The header `X-Request-Id` of the request, or a random id. The answer has the same header. */
  readonly requestId: string
  readonly method: string
  /** The path without its query, which may contain texts of people. */
  readonly path: string
  /** The operation. Null: the path is no route. */
  readonly operation: string | null
  readonly status: number
  /** The time until the answer began, in ms. An event stream continues after that. */
  readonly ms: number
  /** The principal of the request. Null: access is off, or the request has no valid credentials. */
  readonly principal: string | null
}

/** The id of a request. The middleware `requestId` sets it before every other one. */
export const requestIdOf = (c: Context): string => c.get('requestId')

/** Reports each answered request. */
export function recorded(find: FindRoute, onRequest: (request: AnsweredRequest) => void): MiddlewareHandler {
  return async (c, next) => {
    const began = performance.now()
    await next()
    onRequest({
      requestId: requestIdOf(c),
      method: c.req.method,
      path: c.req.path,
      operation: find(c)?.operation ?? null,
      status: c.res.status,
      ms: Math.round(performance.now() - began),
      principal: identityIn(c)?.principal ?? null,
    })
  }
}
