import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { z } from 'zod'
import type { BegunLogin, Clock, Random } from '../../../domain/ports/index.ts'

/** The time for a login at the issuer, in ms. */
export const LOGIN_MS = 10 * 60_000
/** The most completed logins that are remembered. The issuer refuses the code of a forgotten one. */
const MOST_TAKEN = 10_000

const Sealed = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  until: z.number(),
})

/**
 * Logins that have begun. The browser keeps them in an encrypted cookie, so nobody can fill the memory with them. A
 * login is completed only in the browser that began it, and once.
 */
export class LoginCookies {
  readonly #around: { readonly token: () => string; readonly random: Random; readonly clock: Clock }
  /** States of completed logins, oldest first. */
  readonly #taken = new Set<string>()

  constructor(around: { readonly token: () => string; readonly random: Random; readonly clock: Clock }) {
    this.#around = around
  }

  /** The value of the cookie for a login. */
  seal(begun: BegunLogin): string {
    const iv = this.#around.random.bytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key(), iv)
    const until = this.#around.clock.now() + LOGIN_MS
    const parts = [iv, cipher.update(JSON.stringify({ ...begun, until })), cipher.final(), cipher.getAuthTag()]
    return Buffer.concat(parts).toString('base64url')
  }

  /** The login with this state in one of the cookies. `unknown`: none. `repeated`: it was taken before. */
  take(cookies: readonly string[], state: string): BegunLogin | 'unknown' | 'repeated' {
    const found = cookies.map((value) => this.#open(value)).find((one) => one?.state === state)
    if (found == null || found.until < this.#around.clock.now()) return 'unknown'
    if (this.#taken.has(state)) return 'repeated'
    this.#taken.add(state)
    const [oldest] = this.#taken
    if (this.#taken.size > MOST_TAKEN && oldest !== undefined) this.#taken.delete(oldest)
    const { until: _, ...begun } = found
    return begun
  }

  #open(value: string): z.infer<typeof Sealed> | null {
    const bytes = Buffer.from(value, 'base64url')
    if (bytes.length < 28) return null
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key(), bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAuthTag(bytes.subarray(-16))
      const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString()
      return Sealed.parse(JSON.parse(text))
    } catch {
      return null
    }
  }

  #key(): Buffer {
    return createHmac('sha256', this.#around.token()).update('keepup login cookie').digest()
  }
}
