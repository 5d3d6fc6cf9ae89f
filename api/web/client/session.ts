import { signal } from '@preact/signals'
import type { LoginRefusal } from '../../http/sessions/login-routes.ts'
import { forgetSaved } from '../parts/saved-list.ts'

/** The script's half of a session. The other half is a cookie that scripts cannot read. */
interface Kept {
  readonly key: string
  readonly by: string | null
}

const PLACE = 'keepup-session'

function read(): Kept | null {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? 'null') as Kept | null
  } catch {
    return null
  }
}

export const session = signal<Kept | null>(read())

function take(kept: Kept | null): void {
  if (kept?.key !== session.value?.key) session.value = kept
}

// Another tab started a session or ended the shared one.
addEventListener('storage', ({ key }) => (key === PLACE || key === null) && take(read()))

/** Why there is no session. Null: there is one, or the page has not tried to get one. */
export const sessionRefusal = signal<string | null>(null)

/** The name that this person's commands record. */
export const person = (): string => session.value?.by ?? 'anonymous'

/**
 * Call when the server rejects the session of a key. If another tab has started a newer session, this tab takes that
 * one.
 */
export function expired(key: string): void {
  if (read()?.key === key) localStorage.removeItem(PLACE)
  take(read())
}

/** How people sign in: the host of an issuer (null: there is none), and with a key. */
export interface SignInWays {
  readonly issuer: string | null
  readonly keys: boolean
}

export async function signInWays(): Promise<SignInWays> {
  const { issuer = null, keys = false } = (await (await fetch('/v1/session')).json()) as Partial<SignInWays>
  return { issuer, keys }
}

/** Signs in the owner of a key. The page keeps no key: the session ends with it. */
export async function signInWithKey(key: string): Promise<void> {
  sessionRefusal.value = null
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch('/v1/session/codes', { method: 'POST', headers, body: '{}' })
  const body = (await answer.json()) as { readonly code?: string; readonly detail?: string }
  if (answer.ok && body.code !== undefined) await exchangeCode(body.code)
  else sessionRefusal.value = body.detail ?? `the server answered ${answer.status}`
}

/** Ends this session on the server, and removes what this browser saved for the person. Rejects if the server does not answer, because the session then goes on. */
export async function signOut(): Promise<void> {
  const key = session.value?.key ?? ''
  const answer = await fetch('/v1/session', { method: 'DELETE', headers: { 'keepup-session': key } })
  if (!answer.ok && answer.status !== 401) throw new Error(`the server answered ${answer.status}`)
  forgetSaved(person(), localStorage)
  expired(key)
}

/** The words for a refused login. */
const REFUSALS: Readonly<Record<LoginRefusal, string>> = {
  access_off: 'Access is off on this server, so nobody can sign in. Begin with: keepup access init',
  again:
    'This login began in another browser or at another address, was used before, or took more than ten minutes. Sign in again.',
  denied: 'The issuer did not let you in, or you refused.',
  issuer_unavailable: 'The issuer cannot be reached, or its settings are wrong. Try again, or ask an admin.',
  no_role: 'You have no role here. An admin can grant one, or the issuer can add you to a group that has one.',
  not_configured: 'This server has no issuer to sign in with.',
  not_linked: 'Someone with your name has access here. If it is you, ask an admin to link your account at the issuer.',
  not_valid: 'The answer of the issuer is not valid. Sign in again.',
  redirect_uri: 'The settings must name the address of this page: "access.oidc.redirectUri".',
  removed: 'You were removed here. Ask an admin.',
}

/** Takes the reason of a refused login from the URL. A word that is none of ours is not shown. */
function takeRefusal(): void {
  const word = /^#refused=(\w+)$/.exec(location.hash)?.[1]
  if (word === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  sessionRefusal.value = Object.hasOwn(REFUSALS, word) ? REFUSALS[word as LoginRefusal] : REFUSALS.not_valid
}

/** A link with a code waits for the person's consent. Null: none waits. */
export const askedLink = signal<{ readonly code: string; readonly by: string | null } | null>(null)

interface CodeAnswer {
  readonly key: string
  readonly by: string | null
  readonly ask: boolean
}

/** Sends a code. Null: the server refused it. */
async function sendCode(method: 'GET' | 'POST', path: string, code: string): Promise<CodeAnswer | null> {
  const answer = await fetch(path, { method, headers: { authorization: `Keepup-Code ${code}` } })
  const body = (await answer.json()) as CodeAnswer & { detail?: string }
  if (answer.ok) return body
  sessionRefusal.value = body.detail ?? `the server answered ${answer.status}`
  return null
}

/**
 * Exchanges the code of a link for a session, and removes the code from the URL first. Another site can link to the page
 * with the code of another person, so the page asks before it signs in a person who is not signed in already.
 */
export async function takeLink(): Promise<void> {
  takeRefusal()
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  const found = await sendCode('GET', '/v1/session/codes', code)
  if (found === null) return
  if (found.ask && session.value?.by !== found.by) askedLink.value = { code, by: found.by }
  else await exchangeCode(code)
}

/** Exchanges a code for a session. */
export async function exchangeCode(code: string): Promise<void> {
  askedLink.value = null
  const body = await sendCode('POST', '/v1/session', code)
  if (body === null) return
  const kept = { key: body.key, by: body.by }
  localStorage.setItem(PLACE, JSON.stringify(kept))
  session.value = kept
}
