import type { Context, MiddlewareHandler } from 'hono'
import { RIGHTS, type Right } from '../../domain/access/rights.ts'
import type { Identity } from '../../domain/access/runtime/access-gate.ts'
import type { AccessState } from '../../domain/access/state.ts'
import type { VerifiedToken } from '../../domain/ports/index.ts'
import { identityOfKey, isAuditedRead, mustHave, recovery } from '../operations/access/identity.ts'
import { runOfRequest } from '../operations/access/run-of-request.ts'
import { identityOfToken, verifiedToken } from '../operations/access/token-identity.ts'
import { optionsOf } from '../operations/headers.ts'
import { Problem } from '../operations/problem.ts'
import type { RequestOptions } from '../operations/runs/request-options.ts'
import type { Services } from '../operations/services.ts'
import { ADDED_OPERATIONS, OPERATIONS } from '../operations/table.ts'
import type { Declared, FindRoute } from './declared-guard.ts'
import { addressOf, isOverNetwork } from './network.ts'
import { isLoginRoute } from './sessions/login-routes.ts'
import { codeOf, missingHalf, sessionIn } from './sessions/session-guard.ts'
import type { Holder, WebSessions } from './sessions/web-sessions.ts'
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
/** The routes that need a code. They check it themselves. */
const WITH_CODE: ReadonlySet<string> = new Set(['POST /v1/session', 'GET /v1/session/codes'])

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
    if (open.has(`${method} ${c.req.path}`) || isWitnessRoute(method, c.req.path) || isLoginRoute(method, c.req.path))
      return next()
    const said = c.req.header('authorization')
    const isExchange = WITH_CODE.has(`${method} ${c.req.path}`) && codeOf(c) !== null
    // Sessions are signed with the token. Keys do not need it.
    if (wanted === null && (isExchange || said === undefined)) throw new Problem('UNAUTHORIZED', NO_TOKEN)
    if (isExchange) return next()
    const session = () => (said === undefined && !BEARER_ONLY.has(c.req.path) ? sessionIn(c, sessions) : null)
    const begun = session()
    const state = await s.access.state()
    const address = addressOf(c)
    const bearer = bearerOf(said)
    const verified = state !== null && isToken(s, bearer) ? await verifiedToken(s, bearer, address) : null
    const request = { s, wanted, said, address, token: verified, isSession: begun !== null }
    const identity = await identified(c, { ...request, state, session: begun })
    const again = async () => identified(c, { ...request, state: await s.access.state(), session: session() })
    identities.set(c, { identity, again })
    await next()
  }
}

const isKey = (bearer: string): boolean => bearer.startsWith('ku_key_')

/** Whether a bearer is a JWT of a service. Each JWT begins with the base64url of `{"`. */
const isToken = ({ login }: Services, bearer: string): boolean => login.tokens !== null && bearer.startsWith('eyJ')

const withoutAccess = (said: string | undefined): string =>
  isKey(bearerOf(said))
    ? 'access is off in this data folder, so keys are not valid here; unset KEEPUP_KEY, or name another folder'
    : 'send "Authorization: Bearer <token>"; the token is in the data folder'

/** `Authorization` rules out a session. */
const halved = (c: Context, said: string | undefined): string | null => (said === undefined ? missingHalf(c) : null)

interface Request {
  readonly s: Services
  readonly state: AccessState | null
  /** The token of the data folder. Null: its file cannot be used. */
  readonly wanted: string | null
  readonly said: string | undefined
  readonly address: string | null
  /** The verified token of a service. Null: the request has none. */
  readonly token: VerifiedToken | null
  /** The request began with a session. */
  readonly isSession: boolean
  /** Null: there is none, or it has ended. */
  readonly session: Holder | null
}

const ENDED = 'this session has ended; open the page again: keepup open'

async function identified(c: Context, request: Request): Promise<Identity | null> {
  const { s, state, wanted, said, address, token, isSession, session } = request
  if (isSession && session === null) throw new Problem('UNAUTHORIZED', ENDED)
  const isInstallToken = (): boolean => wanted !== null && tokenMatches(said, wanted)
  if (state === null) {
    if (wanted === null) throw new Problem('UNAUTHORIZED', NO_TOKEN)
    if (session !== null || isInstallToken()) return null
    throw new Problem('UNAUTHORIZED', halved(c, said) ?? withoutAccess(said))
  }
  if (session !== null) {
    const { principal, key } = session
    const source = s.login.signIn?.source ?? null
    const found = principal === null ? 'unknown' : s.access.identifySession(state, principal, key, source)
    if (typeof found !== 'string') {
      if (key !== null) s.uses.used(key)
      return found
    }
    s.uses.failed({ key, reason: `session_${found}`, address })
    throw new Problem('UNAUTHORIZED', ENDED)
  }
  if (said === undefined) {
    s.uses.failed({ key: null, reason: 'no_key', address })
    throw new Problem('UNAUTHORIZED', halved(c, said) ?? 'send "Authorization: Bearer <key>"; an admin makes keys')
  }
  if (token !== null) return identityOfToken(s, token, address)
  const bearer = bearerOf(said)
  if (isKey(bearer) || !isInstallToken()) return identityOfKey(s, state, bearer, address)
  if (!isOverNetwork(c)) return recovery
  s.uses.failed({ key: null, reason: 'token_over_network', address })
  throw new Problem('UNAUTHORIZED', 'the token of the data folder is not valid over the network; send a key')
}

/** The options in a request's headers, with its principal. */
export function requestOptions(c: Context, headers: Parameters<typeof optionsOf>[0]): RequestOptions {
  const identity = identityIn(c)
  return { ...optionsOf(headers), ...(identity !== null && { identity }) }
}

/** Refuses a request whose principal does not have the right of its route. Counts reads. */
export function rightGuard(s: Services, find: FindRoute): MiddlewareHandler {
  return async (c, next) => {
    const identity = identityIn(c)
    const route = find(c)
    // A path without a route is answered with 404.
    if (route === undefined || route.right === null) return next()
    if (identity !== null) {
      const run = await runOfRequest(s, c.req.path, c.req.query('run'))
      mustHave(s, identity, route.right, { operation: route.operation, run })
      if (isAuditedRead(c.req.method, route.right))
        s.uses.read({ principal: identity.principal, operation: route.operation, run })
    }
    await next()
    const type = c.res.headers.get('content-type') ?? ''
    if (LONG.test(type) && c.res.body !== null)
      c.res = new Response(whileAllowed(c, route.right, c.res.body, LIVE.test(type)), c.res)
  }
}

/** Checks the sender again after the body has arrived: a slow request must not outlive its key. */
export function stillAllowed(find: FindRoute): MiddlewareHandler {
  return async (c, next) => {
    const right = c.req.raw.body === null ? null : (find(c)?.right ?? null)
    if (right !== null && !(await mayGoOn(c, new Set([right]))))
      throw new Problem('UNAUTHORIZED', 'the key or session ended while the request arrived; nothing was done')
    await next()
  }
}

/** Whether the sender of a request is still identified, and still has the rights. */
async function mayGoOn(c: Context, rights: ReadonlySet<Right>): Promise<boolean> {
  const sender = identities.get(c)
  if (sender === undefined) return true
  const identity = await sender.again().catch(() => undefined)
  return identity !== undefined && (identity === null || rights.isSubsetOf(identity.rights))
}

/** The media types of answers that can take long: event streams, exports, packs and whole results. */
const LONG = /^(text\/event-stream|application\/x-ndjson|application\/x-tar|text\/plain)/
/** The media type of answers that have no last byte, so ending one early hides nothing from its reader. */
const LIVE = /^text\/event-stream/
/** The time between two checks of a stream, in ms. A silent stream has a heartbeat, so it is checked too. */
const CHECK_MS = 1_000

/**
 * A stream that ends when its reader loses the right, or is no longer identified. `live`: it ends when its reader loses any
 * right, because the rights at its beginning select its events. It ends like a complete answer. Otherwise the connection
 * breaks, so that no reader takes a part for the whole.
 */
function whileAllowed(
  c: Context,
  right: Right,
  body: ReadableStream<Uint8Array>,
  live: boolean,
): ReadableStream<Uint8Array> {
  let checked = performance.now()
  const rights = (live && identityIn(c)?.rights) || new Set([right])
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        if (performance.now() - checked >= CHECK_MS) {
          checked = performance.now()
          if (!(await mayGoOn(c, rights)))
            return live ? controller.terminate() : controller.error(new Error('the key or session of the reader ended'))
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
