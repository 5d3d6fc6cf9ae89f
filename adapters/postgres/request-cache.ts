import type { Pool } from 'pg'
import type { RequestCache } from '../../domain/ports/index.ts'
import { REQUEST_CACHE_TTL_MS } from '../memory/request-cache-ttl.ts'
import { prepareSchema } from './prepare.ts'
import { ask, askPatiently } from './query.ts'

const FRESH = `at > clock_timestamp() - interval '${REQUEST_CACHE_TTL_MS} milliseconds'`

/** The request cache of all processes of a deployment, by the clock of PostgreSQL. Rejects with LogError. */
export class PostgresRequestCache implements RequestCache {
  readonly #pool: Pool
  readonly #table: string

  private constructor(pool: Pool, schema: string) {
    this.#pool = pool
    this.#table = `${schema}.answers`
  }

  /** `schema`: a separate schema, created if missing. */
  static async open({ pool, schema }: { readonly pool: Pool; readonly schema: string }): Promise<PostgresRequestCache> {
    const cache = new PostgresRequestCache(pool, schema)
    // Unlogged: after a crash the cache is empty, and the requests are repeated.
    const create = `create unlogged table ${cache.#table} (
      key text collate "C" primary key, at timestamptz not null, answer text not null)`
    await askPatiently(`prepare ${cache.#table}`, () => prepareSchema(pool, schema, 'answers', create))
    return cache
  }

  async get(key: string): Promise<string | null> {
    const text = `select answer from ${this.#table} where key = $1 and ${FRESH}`
    const { rows } = await ask<{ answer: string }>(this.#pool, 'read the request cache', text, [key])
    return rows[0]?.answer ?? null
  }

  /** Also removes expired answers, so that the table remains small. */
  async put(key: string, answer: string): Promise<void> {
    await ask(this.#pool, 'clean the request cache', `delete from ${this.#table} where not (${FRESH})`)
    const text = `insert into ${this.#table} (key, at, answer) values ($1, clock_timestamp(), $2)
      on conflict (key) do update set at = excluded.at, answer = excluded.answer`
    await ask(this.#pool, 'write the request cache', text, [key, answer])
  }

  async clear(): Promise<void> {
    await ask(this.#pool, 'clear the request cache', `delete from ${this.#table}`)
  }
}
