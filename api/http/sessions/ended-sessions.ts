import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * Sessions ended before their expiry. A file stores them, so that they stay ended after a restart: one line each, with
 * the digest of the session and its expiry in ms since the epoch.
 */
export class EndedSessions {
  readonly #file: string | null
  readonly #expiry = new Map<string, number>()

  /** `file`: null stores them only in memory. `now`: in ms since the epoch. */
  constructor(file: string | null, now: number) {
    this.#file = file
    const lines = this.#read()
    for (const line of lines) {
      const [, session, expiry] = /^([0-9a-f]{64}) (\d{1,15})$/.exec(line) ?? []
      if (session !== undefined && Number(expiry) > now) this.#expiry.set(session, Number(expiry))
    }
    if (file === null || this.#expiry.size === lines.length) return
    const kept = [...this.#expiry].map(([session, expiry]) => `${session} ${expiry}\n`)
    writeFileSync(file, kept.join(''), { mode: 0o600 })
  }

  has(session: string): boolean {
    return this.#expiry.has(session)
  }

  /** Durable on return. */
  add(session: string, expiry: number): void {
    if (this.#expiry.has(session)) return
    this.#expiry.set(session, expiry)
    if (this.#file !== null) appendFileSync(this.#file, `${session} ${expiry}\n`, { mode: 0o600, flush: true })
  }

  #read(): string[] {
    try {
      return this.#file === null ? [] : readFileSync(this.#file, 'utf8').split('\n').slice(0, -1)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }
}
