import { createRoute, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { CALLBACK } from '../../../adapters/login/settings.ts'
import { IssuerUnavailable, TokenRefused } from '../../../domain/access/token-errors.ts'
import type { SignIn } from '../../../domain/ports/index.ts'
import { logIn } from '../../operations/access/token-identity.ts'
import type { LoginFailure } from '../../operations/access/uses.ts'
import type { Services } from '../../operations/services.ts'
import { isLoopback } from '../guards.ts'
import { addressOf } from '../network.ts'
import { json, newApp, refusals } from '../new-app.ts'
import { LOGIN_MS, LoginCookies } from './login-cookies.ts'
import { browserCookie, cookieName, cookies } from './session-guard.ts'
import { SignInView } from './session-schemas.ts'
import type { WebSessions } from './web-sessions.ts'

const BEGIN = '/v1/session/oidc'

const ways = createRoute({
  method: 'get',
  path: '/v1/session',
  operationId: 'getSignIn',
  security: [],
  summary: 'How people sign in to the page',
  responses: { 200: json(SignInView, 'The issuer, if there is one'), ...refusals },
})

const begin = createRoute({
  method: 'get',
  path: BEGIN,
  operationId: 'beginLogin',
  security: [],
  summary: 'Send the browser to the OpenID Connect issuer',
  responses: {
    302: { description: 'To the issuer; with a reason back to the page if that is not possible' },
    ...refusals,
  },
})

const callback = createRoute({
  method: 'get',
  path: CALLBACK,
  operationId: 'completeLogin',
  security: [],
  summary: 'Complete a login: the issuer sends the browser here, with a code',
  // Issuers add parameters of their own.
  request: { query: z.looseObject({ code: z.string().optional(), state: z.string().optional() }) },
  responses: { 302: { description: 'To the page, with the code of a session or with a reason' }, ...refusals },
})

/** Whether a request needs no token: it begins or completes a login. */
export const isLoginRoute = (method: string, path: string): boolean =>
  method === 'GET' && ['/v1/session', BEGIN, CALLBACK].includes(path)

/** Why there is no session, as a word that the page explains. */
export type LoginRefusal =
  | 'access_off'
  | 'again'
  | 'denied'
  | 'issuer_unavailable'
  | 'no_role'
  | 'not_configured'
  | 'not_linked'
  | 'not_valid'
  | 'redirect_uri'
  | 'removed'

/** Always an address of this server: nothing of the request is in it. */
const refusedTo = (c: Context, why: LoginRefusal) => c.redirect(`/#refused=${why}`, 302)

interface Options {
  readonly token: () => string
  readonly onFault: (error: unknown, path: string) => void
}

/** Login at an OpenID Connect issuer. It ends with a code for a session, as `keepup open` does. */
export function loginRoutes(s: Services, sessions: WebSessions, { token, onFault }: Options) {
  const begun = new LoginCookies({ token, random: s.random, clock: s.clock })
  const failed = (c: Context, reason: LoginFailure) => s.uses.failed({ key: null, reason, address: addressOf(c) })
  const unavailable = (c: Context, error: IssuerUnavailable) => {
    failed(c, 'issuer_unavailable')
    onFault(error, c.req.path)
    return refusedTo(c, 'issuer_unavailable')
  }
  return newApp()
    .openapi(ways, async (c) => {
      const { signIn } = s.login
      const isOn = (await s.access.state()) !== null
      return c.json({ issuer: isOn && signIn !== null ? new URL(signIn.source.issuer).host : null, keys: isOn }, 200)
    })
    .openapi(begin, async (c) => {
      const { signIn } = s.login
      if (signIn === null) return refusedTo(c, 'not_configured')
      if ((await s.access.state()) === null) return refusedTo(c, 'access_off')
      const redirectUri = redirectUriOf(c, signIn)
      if (redirectUri === null) return refusedTo(c, 'redirect_uri')
      try {
        const login = await signIn.begin(redirectUri)
        c.header('set-cookie', cookie(c, begun.seal(login.begun), redirectUri))
        c.header('cache-control', 'no-store')
        return c.redirect(login.url, 302)
      } catch (error) {
        if (error instanceof IssuerUnavailable) return unavailable(c, error)
        throw error
      }
    })
    .openapi(callback, async (c) => {
      const { signIn } = s.login
      if (signIn === null) return refusedTo(c, 'not_configured')
      const redirectUri = redirectUriOf(c, signIn) ?? ''
      c.header('set-cookie', cookie(c, '', redirectUri, 0))
      c.header('cache-control', 'no-store')
      const login = begun.take(cookies(c, loginCookie(c, redirectUri)), c.req.query('state') ?? '')
      if (typeof login === 'string') {
        failed(c, login === 'unknown' ? 'oidc_state' : 'oidc_repeated')
        return refusedTo(c, 'again')
      }
      try {
        const verified = await signIn.complete(new URL(c.req.url).search, login)
        const found = (await s.access.state()) === null ? 'access_off' : await logIn(s, verified)
        if (found === 'access_off') return refusedTo(c, found)
        if (typeof found === 'string') {
          failed(c, found)
          return refusedTo(c, found)
        }
        const { principal } = found
        const browser = Buffer.from(s.random.bytes(32)).toString('base64url')
        const { code } = sessions.code({ by: principal, principal, key: null, until: verified.expiresAt, browser })
        c.header('set-cookie', browserCookie(c, browser, isHttps(redirectUri)), { append: true })
        return c.redirect(`/#code=${code}`, 302)
      } catch (error) {
        if (error instanceof IssuerUnavailable) return unavailable(c, error)
        if (!(error instanceof TokenRefused)) throw error
        failed(c, `oidc_${error.fault}`)
        return refusedTo(c, error.fault === 'denied' ? 'denied' : 'not_valid')
      }
    })
}

/**
 * The address to which the issuer sends the browser back. Without one in the settings only this machine's own names
 * serve: other names can need https, which this process does not see. Null: the settings must name it.
 */
function redirectUriOf(c: Context, { redirectUri }: SignIn): string | null {
  if (redirectUri !== null) return redirectUri
  const host = c.req.header('host') ?? new URL(c.req.url).host
  return isLoopback(host) ? `http://${host}${CALLBACK}` : null
}

const isHttps = (address: string): boolean => address.startsWith('https:')

/** Browsers let only this host set a cookie with the prefix `__Host-`, and only over https with the path `/`. */
const loginCookie = (c: Context, redirectUri: string): string =>
  `${isHttps(redirectUri) ? '__Host-' : ''}${cookieName(c)}_login`

/** The issuer's redirect comes from another site, so the cookie cannot be `Strict`. */
function cookie(c: Context, value: string, redirectUri: string, maxAgeMs = LOGIN_MS): string {
  const scope = isHttps(redirectUri) ? 'Path=/; Secure' : `Path=${BEGIN}`
  return `${loginCookie(c, redirectUri)}=${value}; ${scope}; Max-Age=${maxAgeMs / 1000}; HttpOnly; SameSite=Lax`
}
