import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { connectionLost } from '../../../domain/log/connection-lost.ts'
import { named } from './failures.ts'

// Maximum number of prepared statements per session, because the server keeps every one.
const MAX_PREPARED = 500
const FIRST_WAIT = 20
const LONGEST_WAIT = 1000

interface SessionOptions {
  /** How long to try to reconnect before `UNAVAILABLE` (ms). */
  readonly patienceMs: number
  /** Prepares every new connection. */
  begin(client: pg.PoolClient): Promise<void>
}

/** One connection of a pool, kept for a writer and replaced when it is lost. Not for concurrent callers. */
export class Session {
  readonly #pool: pg.Pool
  readonly #options: SessionOptions
  #client: pg.PoolClient | null = null
  #names = new Map<string, string>()
  #closed = false
  constructor(pool: pg.Pool, options: SessionOptions) {
    this.#pool = pool
    this.#options = options
  }

  /** A query that the server parses once per connection. Only within {@link try}. */
  async query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult<R>> {
    const name = this.#nameOf(text)
    return this.#client!.query<R>({ text, values: values as unknown[], ...(name === null ? {} : { name }) })
  }

  /**
   * Runs `work`, and again after a lost connection: `work` must check whether its first try took effect. Rejects with
   * `UNAVAILABLE` when there is no connection for `patienceMs`.
   */
  async try<T>(work: () => Promise<T>): Promise<T> {
    const until = performance.now() + this.#options.patienceMs
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        await this.#connect()
        return await work()
      } catch (error) {
        if (!connectionLost(error)) throw named(error)
        this.#drop(error)
        if (this.#closed || performance.now() + wait > until) throw named(error)
        await sleep(wait)
      }
    }
  }

  /** {@link try} with a transaction. */
  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.try(async () => {
      await this.query('begin')
      try {
        const value = await work()
        await this.query('commit')
        return value
      } catch (error) {
        if (!connectionLost(error)) await this.query('rollback')
        throw error
      }
    })
  }

  /** Releases the connection. Its locks are free when this resolves. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#client?.query('select pg_advisory_unlock_all()').catch(() => undefined)
    this.#drop(true)
  }

  async #connect(): Promise<void> {
    if (this.#client) return
    const client = await this.#pool.connect()
    try {
      await this.#options.begin(client)
    } catch (error) {
      client.release(true)
      throw error
    }
    this.#client = client
    this.#names = new Map()
  }

  // Never return the connection to the pool: it has its own search path and locks.
  #drop(why: unknown): void {
    this.#client?.release(why instanceof Error ? why : true)
    this.#client = null
  }

  #nameOf(text: string): string | null {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    if (this.#names.size >= MAX_PREPARED) return null
    const name = `k${this.#names.size}`
    this.#names.set(text, name)
    return name
  }
}
