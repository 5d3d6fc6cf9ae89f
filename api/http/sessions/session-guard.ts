import type { Context } from 'hono'
import { Problem } from '../../operations/problem.ts'
import type { HttpCode } from '../status.ts'
import { CODE_MS, type Holder, type WebSessions } from './web-sessions.ts'

/** The header with the page's half of a session. */
export const KEY_HEADER = 'keepup-session'
/** The form of `Authorization` with a code to exchange. */
const CODE = /^Keepup-Code +([\w-]{1,128})$/i

/** The name includes the port, because all servers of a host share cookies. */
export const cookieName = (c: Context): string => `keepup_${/:(\d+)$/.exec(hostOf(c))?.[1] ?? 'session'}`

const hostOf = (c: Context): string => (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase()

/** The names of the cookie with the secret of a browser that signed in at the issuer: over http, and over https. */
const browserNames = (c: Context) => [`${cookieName(c)}_browser`, `__Host-${cookieName(c)}_browser`] as const

/** The cookie with the secret of a browser, which its code needs ({@link CODE_MS}). */
export function browserCookie(c: Context, secret: string, isHttps: boolean): string {
  const [plain, prefixed] = browserNames(c)
  const named = isHttps ? `${prefixed}=${secret}; Path=/; Secure` : `${plain}=${secret}; Path=/v1/session`
  return `${named}; Max-Age=${CODE_MS / 1000}; HttpOnly; SameSite=Strict`
}

/** The secrets of the browser in a request. */
export const browsersIn = (c: Context): string[] => browserNames(c).flatMap((name) => cookies(c, name))

/** The code in a request. Null: none. */
export const codeOf = (c: Context): string | null => CODE.exec(c.req.header('authorization') ?? '')?.[1] ?? null

/** All values of a cookie. A program on another port may have set one with the same name. */
export function cookies(c: Context, name: string): string[] {
  const pairs = (c.req.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}

/**
 * The valid session of the page in a request; null: none. Throws ORIGIN_REFUSED if the browser reports another origin.
 * "Same site" is not enough, because pages on other ports of this host share the cookies.
 */
export function sessionIn(c: Context, sessions: WebSessions): Holder | null {
  for (const { cookie, key } of halvesOf(c)) {
    const holder = sessions.holder(cookie, key)
    if (holder !== null) return holder
  }
  return null
}

/** What a request with only one half of a session must add. Null: it has both halves, or none. */
export function missingHalf(c: Context): string | null {
  const key = c.req.header(KEY_HEADER)
  const hasCookie = cookies(c, cookieName(c)).length > 0
  if (hasCookie && key === undefined)
    return `this session lacks its other half: send the header ${KEY_HEADER} with the "key" that POST /v1/session answered`
  if (!hasCookie && key !== undefined)
    return `this session lacks its other half: send the cookie ${cookieName(c)} that POST /v1/session set`
  return null
}

/** Ends the sessions in a request. Returns their owners. Throws like {@link sessionIn}. */
export function endSessions(c: Context, sessions: WebSessions): Holder[] {
  return halvesOf(c).flatMap(({ cookie, key }) => {
    const holder = sessions.holder(cookie, key)
    return sessions.end(cookie, key) && holder !== null ? [holder] : []
  })
}

function halvesOf(c: Context): { readonly cookie: string; readonly key: string }[] {
  const key = c.req.header(KEY_HEADER)
  const found = cookies(c, cookieName(c))
  if (key === undefined || found.length === 0) return []
  mustBeSameOrigin(c)
  return found.slice(0, 8).map((cookie) => ({ cookie, key }))
}

/** Throws ORIGIN_REFUSED if the browser reports that a page of another origin sent the request. */
export function mustBeSameOrigin(c: Context): void {
  const site = c.req.header('sec-fetch-site')
  const origin = c.req.header('origin')
  const foreign = origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === hostOf(c))
  if (foreign || (site !== undefined && site !== 'same-origin'))
    throw new Problem<HttpCode>(
      'ORIGIN_REFUSED',
      'a session is for the page of this server; other pages are not served',
    )
}
