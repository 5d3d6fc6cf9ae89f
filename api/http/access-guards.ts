import type { Context, MiddlewareHandler } from 'hono'
import { RIGHTS, type Right } from '../../domain/access/rights.ts'
import type { Identity } from '../../domain/access/runtime/access-gate.ts'
import type { AccessState } from '../../domain/access/state.ts'
import { identityOfKey, mustHave, recovery } from '../operations/access/identity.ts'
import { optionsOf } from '../operations/headers.ts'
import { Problem } from '../operations/problem.ts'
import type { RequestOptions } from '../operations/runs/request-options.ts'
import type { Services } from '../operations/services.ts'
import { ADDED_OPERATIONS, OPERATIONS } from '../operations/table.ts'
import type { Declared, FindRoute } from './declared-guard.ts'
import { isOverNetwork } from './network.ts'
import { codeOf, sessionIn } from './sessions/session-guard.ts'
import type { WebSessions } from './sessions/web-sessions.ts'
import { bearerOf, TokenError, tokenMatches } from './token.ts'
import { isWitnessRoute } from './witness-routes.ts'

/** Methods and paths of the operations that need no token: monitors ask them. */
const openEndpoints = (): ReadonlySet<string> =>
  new Set([...OPERATIONS, ...ADDED_OPERATIONS].filter(({ right }) => right === null).map(({ http }) => http))

const NO_TOKEN =
  'the token file in the data folder cannot be used: it is another user’s, readable for others, or holds no token; ' +
  'delete it, and a new one is made'

function orNone(token: () => string): string | null {
  try {
    return token()
  } catch (error) {
    if (error instanceof TokenError) return null
    throw error
  }
}

/** Sessions must not create codes for further sessions. */
const BEARER_ONLY: ReadonlySet<string> = new Set(['/v1/session/codes'])
/** The route that exchanges a code for a session. It checks the code itself. */
const EXCHANGE = '/v1/session'

/**
 * The identity of each request (null: access is off), and the function that identifies its sender again. `again` rejects
 * when the key or session has ended.
 */
const identities = new WeakMap<
  Context,
  { readonly identity: Identity | null; readonly again: () => Promise<Identity | null> }
>()

/** The principal of a request. Null: access is off, or the operation is open to everyone. */
export const identityIn = (c: Context): Identity | null => identities.get(c)?.identity ?? null

/**
 * Requires `Authorization: Bearer`, or a session of the page, except on the routes for monitors and logs. Without access
 * the install's token is the only valid one. With access each principal sends a key, and the token works only without
 * the network: in this process and over the socket, which only the owner of the data folder can reach.
 */
export function identityGuard(s: Services, token: () => string, sessions: WebSessions): MiddlewareHandler {
  const open = openEndpoints()
  return async (c, next) => {
    // Read the token before the check of open routes. So a health check recreates a deleted token file.
    const wanted = orNone(token)
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
    if (open.has(`${method} ${c.req.path}`) || isWitnessRoute(method, c.req.path)) return next()
    if (wanted === null) throw new Problem('UNAUTHORIZED', NO_TOKEN)
    if (c.req.method === 'POST' && c.req.path === EXCHANGE && codeOf(c) !== null) return next()
    const said = c.req.header('authorization')
    const session = said === undefined && !BEARER_ONLY.has(c.req.path) ? sessionIn(c, sessions) : null
    const state = await s.access.state()
    const identify = (now: AccessState | null) => identified(c, { s, state: now, wanted, said, session })
    identities.set(c, { identity: identify(state), again: async () => identify(await s.access.state()) })
    await next()
  }
}

const isKey = (bearer: string): boolean => bearer.startsWith('ku_key_')

const withoutAccess = (said: string | undefined): string =>
  isKey(bearerOf(said))
    ? 'access is off in this data folder, so keys are not valid here; unset KEEPUP_KEY, or name another folder'
    : 'send "Authorization: Bearer <token>"; the token is in the data folder'

interface Request {
  readonly s: Services
  readonly state: AccessState | null
  readonly wanted: string
  readonly said: string | undefined
  readonly session: ReturnType<typeof sessionIn>
}

function identified(c: Context, { s, state, wanted, said, session }: Request): Identity | null {
  if (state === null) {
    if (session !== null || tokenMatches(said, wanted)) return null
    throw new Problem('UNAUTHORIZED', withoutAccess(said))
  }
  if (session !== null) {
    const { principal, key } = session
    const found = principal === null ? 'unknown' : s.access.identifySession(state, principal, key)
    if (typeof found !== 'string') return found
    s.uses.failed({ key, reason: `session_${found}` })
    throw new Problem('UNAUTHORIZED', 'this session has ended; open the page again: keepup open')
  }
  if (said === undefined) {
    s.uses.failed({ key: null, reason: 'no_key' })
    throw new Problem('UNAUTHORIZED', 'send "Authorization: Bearer <key>"; an admin makes keys')
  }
  const bearer = bearerOf(said)
  if (isKey(bearer) || !tokenMatches(said, wanted)) return identityOfKey(s, state, bearer)
  if (!isOverNetwork(c)) return recovery
  s.uses.failed({ key: null, reason: 'token_over_network' })
  throw new Problem('UNAUTHORIZED', 'the token of the data folder is not valid over the network; send a key')
}

/** The options in a request's headers, with its principal. */
export function requestOptions(c: Context, headers: Parameters<typeof optionsOf>[0]): RequestOptions {
  const identity = identityIn(c)
  return { ...optionsOf(headers), ...(identity !== null && { identity }) }
}

/** The run in the path of a request. */
const runIn = (path: string): string | null => /^\/v1\/runs\/([^/]+)/.exec(path)?.[1] ?? null

/** Reads with these rights are not audited: they show nothing about people or their work. */
const UNAUDITED: ReadonlySet<Right> = new Set(['self.use', 'system.read'])

/** Refuses a request whose principal does not have the right of its route. Counts reads. */
export function rightGuard(s: Services, find: FindRoute): MiddlewareHandler {
  return async (c, next) => {
    const identity = identityIn(c)
    const route = find(c)
    // A path without a route is answered with 404.
    if (route === undefined || route.right === null) return next()
    if (identity !== null) {
      const run = runIn(c.req.path)
      mustHave(s, identity, route.right, { operation: route.operation, run })
      const reads = ['GET', 'HEAD'].includes(c.req.method) || route.right === 'tables.ask'
      if (reads && !UNAUDITED.has(route.right))
        s.uses.read({ principal: identity.principal, operation: route.operation, run })
    }
    await next()
    if (FOLLOWING.test(c.res.headers.get('content-type') ?? '') && c.res.body !== null)
      c.res = new Response(whileAllowed(c, route.right, c.res.body), c.res)
  }
}

/** Checks the sender again after the body has arrived: a slow request must not outlive its key. */
export function stillAllowed(find: FindRoute): MiddlewareHandler {
  return async (c, next) => {
    const right = c.req.raw.body === null ? null : (find(c)?.right ?? null)
    if (right !== null && !(await mayGoOn(c, right)))
      throw new Problem('UNAUTHORIZED', 'the key or session ended while the request arrived; nothing was done')
    await next()
  }
}

/** Whether the sender of a request is still identified, and still has the right. */
async function mayGoOn(c: Context, right: Right): Promise<boolean> {
  const sender = identities.get(c)
  if (sender === undefined) return true
  const identity = await sender.again().catch(() => undefined)
  return identity !== undefined && (identity === null || identity.rights.has(right))
}

/** The media types of event streams, which end only when the client leaves. */
const FOLLOWING = /^(text\/event-stream|application\/x-ndjson)/
/** The time between two checks of a stream, in ms. A silent stream has a heartbeat, so it is checked too. */
const CHECK_MS = 1_000

/** A stream that ends when its reader loses the right, or is no longer identified. */
function whileAllowed(c: Context, right: Right, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let checked = performance.now()
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        if (performance.now() - checked >= CHECK_MS) {
          checked = performance.now()
          if (!(await mayGoOn(c, right))) return controller.terminate()
        }
        controller.enqueue(chunk)
      },
    }),
  )
}

/** Throws for a route that neither names its right nor is open to everyone. */
export function mustNameRights(routes: Iterable<Declared>): void {
  for (const { operation, right, open } of routes)
    if (right === null ? !open : !(RIGHTS as readonly string[]).includes(right))
      throw new Error(`the route ${operation} names no right; add "x-keepup-right" to it`)
}
