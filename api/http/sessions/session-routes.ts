import { createRoute } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { RECOVERY } from '../../../domain/access/state.ts'
import { Problem } from '../../operations/problem.ts'
import type { Services } from '../../operations/services.ts'
import { identityIn } from '../access-guards.ts'
import { addressOf } from '../network.ts'
import { body, json, newApp, refusals } from '../new-app.ts'
import { browsersIn, codeOf, cookieName, endSessions, mustBeSameOrigin } from './session-guard.ts'
import { SessionCode, SessionCodeBody, SessionCodeOwner, SessionView } from './session-schemas.ts'
import type { CodeFor, WebSessions } from './web-sessions.ts'

const code = createRoute({
  method: 'post',
  path: '/v1/session/codes',
  operationId: 'makeSessionCode',
  'x-keepup-right': 'self.use',
  summary: 'A code that opens the page in a browser: once, within a minute',
  request: { body: body(SessionCodeBody) },
  responses: { 200: json(SessionCode, 'The code'), ...refusals },
})

const look = createRoute({
  method: 'get',
  path: '/v1/session/codes',
  operationId: 'getSessionCode',
  summary: 'Whom a code signs in. The code stays valid',
  security: [{ code: [] }],
  responses: { 200: json(SessionCodeOwner, 'Whose session it begins'), ...refusals },
})

const exchange = createRoute({
  method: 'post',
  path: '/v1/session',
  operationId: 'beginSession',
  summary: 'Exchange a code for a session of the page: a cookie, and a key that goes with it',
  security: [{ code: [] }],
  responses: { 200: json(SessionView, 'The session'), ...refusals },
})

const end = createRoute({
  method: 'delete',
  path: '/v1/session',
  operationId: 'endSession',
  'x-keepup-right': 'self.use',
  summary: 'End the session of the page, and take its cookie away',
  responses: { 204: { description: 'Gone' }, ...refusals },
})

const NO_CODE = 'this link was used before, is older than a minute, or is for another browser; make one: keepup open'

/** Scripts cannot read it, no other site's page sends it, and only the API gets it. */
function cookie(c: Context, value: string, maxAgeMs: number): string {
  const secure = c.req.header('origin')?.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(c)}=${value}; Path=/v1; Max-Age=${Math.ceil(maxAgeMs / 1000)}; HttpOnly; SameSite=Strict${secure}`
}

/**
 * The person for a code. Throws FORBIDDEN for the owner of the data folder when access is on, because a session works
 * over the network.
 */
function codeFor(c: Context, by: string | null): CodeFor {
  const identity = identityIn(c)
  if (identity === null) return { by, principal: null, key: null }
  const { principal, key } = identity
  if (principal === RECOVERY)
    throw new Problem('FORBIDDEN', 'access is on, so the page needs a person: KEEPUP_KEY=<your key> keepup open')
  // The session would outlive the token.
  if (key === null) throw new Problem('FORBIDDEN', 'a token opens no page; sign in on the page, or send a key')
  return { by: principal, principal, key }
}

/** Sessions of the page: cookies, which only HTTP has. `url`: where browsers find this process; null: nowhere. */
export function sessionRoutes(s: Services, sessions: WebSessions, url: () => string | null) {
  return newApp()
    .openapi(code, (c) => {
      const made = sessions.code(codeFor(c, c.req.valid('json').by ?? null))
      const base = url()
      // Browsers send no part of an address after the # to a server, so no access log contains the code.
      const link = base === null ? null : `${base}/#code=${made.code}`
      return c.json({ code: made.code, expiresAt: new Date(made.until).toISOString(), url: link }, 200)
    })
    .openapi(look, (c) => {
      mustBeSameOrigin(c)
      const found = sessions.look(codeOf(c) ?? '', browsersIn(c))
      if (found === null) throw new Problem('UNAUTHORIZED', NO_CODE)
      c.header('cache-control', 'no-store')
      return c.json(found, 200)
    })
    .openapi(exchange, (c) => {
      mustBeSameOrigin(c)
      const session = sessions.exchange(codeOf(c) ?? '', browsersIn(c))
      if (session === null) throw new Problem('UNAUTHORIZED', NO_CODE)
      const { key, by, holder, expiresAt } = session
      c.header('set-cookie', cookie(c, session.cookie, expiresAt - s.clock.now()))
      const { principal } = holder
      if (principal !== null) s.uses.signedIn({ principal, key: holder.key, address: addressOf(c) })
      return c.json({ key, by, expiresAt: new Date(expiresAt).toISOString() }, 200)
    })
    .openapi(end, (c) => {
      for (const { principal, key } of endSessions(c, sessions))
        if (principal !== null) s.uses.signedOut({ principal, key, address: addressOf(c) })
      c.header('set-cookie', cookie(c, '', 0))
      return c.body(null, 204)
    })
}
