import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock, Random } from '../../../domain/ports/index.ts'
import type { EndedSessions } from './ended-sessions.ts'

/** The lifetime of a code, in ms. */
export const CODE_MS = 60_000
/** The lifetime of a session, in ms: a working day. */
export const SESSION_MS = 12 * 3_600_000
/** The most unused codes. A new code replaces the oldest. */
const MOST_CODES = 32

/** The owner of a session. */
export interface Holder {
  /** Null: the session was opened without access, by a holder of the token. */
  readonly principal: string | null
  /** The id of the key that opened it. The session ends with the key. Null: no key. */
  readonly key: string | null
}

/** The request for a code. `by`: the person who opens the page. */
export interface CodeFor extends Holder {
  readonly by: string | null
  /** The end of the session at the latest, in ms since the epoch. Absent: {@link SESSION_MS} after its begin. */
  readonly until?: number
  /** The secret of the browser that signed in. Only this browser can use the code. Absent: any browser can. */
  readonly browser?: string
}

interface Code {
  readonly for: CodeFor
  /** Ms since the epoch. */
  readonly until: number
}

/** The session that a browser gets for a code. */
export interface WebSession {
  /** The value of the cookie. */
  readonly cookie: string
  /**
   * The header that the page sends with the cookie. Browsers send cookies to every port of a host, and so to other
   * programs, but the page's storage belongs to one port. Each half is useless alone.
   */
  readonly key: string
  /** The person for whom the code was created. */
  readonly by: string | null
  readonly holder: Holder
  /** Ms since the epoch. */
  readonly expiresAt: number
}

interface Surroundings {
  readonly ended: EndedSessions
  readonly token: () => string
  readonly random: Random
  readonly clock: Clock
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
const digest = (value: string): Buffer => createHash('sha256').update(value).digest()
const equal = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

/** Reads the owner in a signed payload. */
function holderIn(encoded: string): Holder {
  const [principal, key] = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as [string | null, string | null]
  return { principal, key }
}

/**
 * Browser sessions. A code can be exchanged once, within a minute, in the process that created it. The session is
 * signed with a key derived from the install's token, so it survives a restart. It ends with the token, or when the
 * person signs out.
 */
export class WebSessions {
  readonly #around: Surroundings
  /** By the digest of the code, so that lookup times reveal nothing about codes. */
  readonly #codes = new Map<string, Code>()

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** Creates a code: 32 random bytes as base64url. `until` in ms since the epoch. */
  code(asked: CodeFor): { readonly code: string; readonly until: number } {
    const code = text(this.#around.random.bytes(32))
    const until = this.#around.clock.now() + CODE_MS
    this.#codes.set(digest(code).toString('hex'), { for: asked, until })
    const [oldest] = this.#codes.keys()
    if (this.#codes.size > MOST_CODES && oldest !== undefined) this.#codes.delete(oldest)
    return { code, until }
  }

  /**
   * Whom a code signs in, and whether the person must agree first: any site can link to the page with another person's code.
   * The code stays valid. Null: the code is unknown or expired, or belongs to another browser.
   */
  look(code: string, browsers: readonly string[]): { readonly by: string | null; readonly ask: boolean } | null {
    const found = this.#codes.get(digest(code).toString('hex'))
    if (found === undefined || !this.#isValid(found, browsers)) return null
    const { by, principal, browser } = found.for
    return { by, ask: principal !== null && browser === undefined }
  }

  /**
   * Exchanges a code for a session and deletes the code. `browsers`: the secrets of the browser. Null: the code is unknown
   * or expired, or belongs to another browser.
   */
  exchange(code: string, browsers: readonly string[] = []): WebSession | null {
    const key = digest(code).toString('hex')
    const found = this.#codes.get(key)
    this.#codes.delete(key)
    const now = this.#around.clock.now()
    if (found === undefined || !this.#isValid(found, browsers)) return null
    const { by, principal, key: opener, until = Number.POSITIVE_INFINITY } = found.for
    const expiresAt = Math.floor(Math.min(now + SESSION_MS, until))
    const holder = text(Buffer.from(JSON.stringify([principal, opener])))
    const payload = `${expiresAt}.${text(this.#around.random.bytes(16))}.${holder}`
    return {
      ...{ by, expiresAt, holder: { principal, key: opener } },
      cookie: `${payload}.${this.#sign('cookie', payload)}`,
      key: this.#sign('page', payload),
    }
  }

  /** The owner of the session with these two halves, the cookie and the page's key. Null: the session is not valid. */
  holder(cookie: string, key: string): Holder | null {
    return this.#sessionOf(cookie, key)?.holder ?? null
  }

  /** Ends a session before its expiry. False: the two halves do not form a valid session. */
  end(cookie: string, key: string): boolean {
    const found = this.#sessionOf(cookie, key)
    if (found !== null) this.#around.ended.add(found.id, found.expiresAt)
    return found !== null
  }

  #isValid({ for: { browser }, until }: Code, browsers: readonly string[]): boolean {
    const isOwn = browser === undefined || browsers.some((one) => equal(one, browser))
    return isOwn && this.#around.clock.now() <= until
  }

  #sessionOf(cookie: string, key: string) {
    const [, payload = '', expiry = '', holder = '', signature = ''] =
      /^((\d{1,15})\.[\w-]{1,64}\.([\w-]{1,512}))\.([\w-]{1,128})$/.exec(cookie) ?? []
    if (payload === '' || Number(expiry) < this.#around.clock.now()) return null
    const isWhole = equal(signature, this.#sign('cookie', payload)) && equal(key, this.#sign('page', payload))
    const id = digest(payload).toString('hex')
    if (!isWhole || this.#around.ended.has(id)) return null
    return { id, expiresAt: Number(expiry), holder: holderIn(holder) }
  }

  #sign(half: 'cookie' | 'page', payload: string): string {
    return createHmac('sha256', this.#around.token())
      .update(`keepup web session ${half} ${payload}`)
      .digest('base64url')
  }
}
