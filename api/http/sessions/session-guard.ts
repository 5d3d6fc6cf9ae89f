import type { Context } from 'hono'
import { Problem } from '../../operations/problem.ts'
import type { HttpCode } from '../status.ts'
import type { WebSessions } from './web-sessions.ts'

/** The header with the page's half of a session. */
export const KEY_HEADER = 'keepup-session'
/** How `Authorization` names a code that is to be exchanged. */
const CODE = /^Keepup-Code +([\w-]{1,128})$/i

/** The port is part of the name, because all servers of a host share its cookies. */
export const cookieName = (c: Context): string => `keepup_${/:(\d+)$/.exec(hostOf(c))?.[1] ?? 'session'}`

const hostOf = (c: Context): string => (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase()

/** The code that a request would exchange; null: it names none. */
export const codeOf = (c: Context): string | null => CODE.exec(c.req.header('authorization') ?? '')?.[1] ?? null

/** Every value of a cookie: a program on another port may have set one of the same name beside it. */
function cookies(c: Context, name: string): string[] {
  const pairs = (c.req.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}

/**
 * Whether a request bears a session of the page. Throws ORIGIN_REFUSED where a browser says that another page sent it: one
 * of another port of this host has our cookies, so that "same site" is not enough.
 */
export function bearsSession(c: Context, sessions: WebSessions): boolean {
  return halvesOf(c).some(({ cookie, key }) => sessions.holds(cookie, key))
}

/** Ends the sessions that a request bears. Throws as {@link bearsSession} does. */
export function endSessions(c: Context, sessions: WebSessions): void {
  for (const { cookie, key } of halvesOf(c)) sessions.end(cookie, key)
}

function halvesOf(c: Context): { readonly cookie: string; readonly key: string }[] {
  const key = c.req.header(KEY_HEADER)
  const found = cookies(c, cookieName(c))
  if (key === undefined || found.length === 0) return []
  mustBeSameOrigin(c)
  return found.slice(0, 8).map((cookie) => ({ cookie, key }))
}

/** Throws ORIGIN_REFUSED where a browser says that a page of another origin sent the request. */
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
