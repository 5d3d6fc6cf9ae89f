import type { Pool } from 'pg'
import type { RateLimiter } from '../../domain/ports/index.ts'
import { paceOf, type SharedLimit } from '../memory/rate-limit.ts'
import { prepareSchema } from './prepare.ts'
import { ask, askPatiently } from './query.ts'

export interface PostgresLimiterOptions {
  /** The caller opens and ends the pool. */
  readonly pool: Pool
  /** A separate schema, created if missing. */
  readonly schema: string
  limitOf(model: string): SharedLimit
}

const NOW = 'extract(epoch from clock_timestamp())::double precision * 1000'

/**
 * Rate limits of a deployment by the clock of PostgreSQL, so that the clocks of its processes may differ. Rejects with
 * LogError.
 */
export class PostgresLimiter implements RateLimiter {
  readonly #options: PostgresLimiterOptions
  readonly #table: string

  private constructor(options: PostgresLimiterOptions) {
    this.#options = options
    this.#table = `${options.schema}.limits`
  }

  static async open(options: PostgresLimiterOptions): Promise<PostgresLimiter> {
    const limiter = new PostgresLimiter(options)
    // Unlogged: a crash may lose the state, but the next refusal restores it.
    const create = `create unlogged table ${limiter.#table} (
      key text collate "C" primary key, blocked double precision not null, next double precision not null,
      wait double precision not null)`
    await askPatiently(`prepare ${limiter.#table}`, () => prepareSchema(options.pool, options.schema, 'limits', create))
    return limiter
  }

  async admit(model: string): Promise<number> {
    const limit = this.#options.limitOf(model)
    const { everyMs, aheadMs } = paceOf(limit)
    // The row's `wait` is the result for the latest call: the statement computes it once and returns it.
    const waits = `greatest(0, held.blocked - excluded.next, held.next - $3::double precision - excluded.next)`
    const text = `insert into ${this.#table} as held (key, blocked, next, wait) values ($1, 0, ${NOW}, -1)
      on conflict (key) do update set wait = ${waits}, next = case when ${waits} = 0 and $2::double precision > 0
        then greatest(held.next, excluded.next) + $2::double precision else held.next end
      returning wait`
    const values = [limit.key, everyMs, aheadMs]
    const asked = () => ask<{ wait: number }>(this.#options.pool, 'look at the rate limit', text, values)
    let wait = (await asked()).rows[0]!.wait
    // The row was new. The second statement counts the call.
    if (wait < 0) wait = (await asked()).rows[0]!.wait
    return Math.ceil(wait)
  }

  async refused(model: string, retryAfterMs: number): Promise<void> {
    const text = `insert into ${this.#table} as held (key, blocked, next, wait) values ($1, ${NOW} + $2::double precision, 0, 0)
      on conflict (key) do update set blocked = greatest(held.blocked, excluded.blocked)`
    const { key } = this.#options.limitOf(model)
    await ask(this.#options.pool, 'record the rate limit', text, [key, retryAfterMs])
  }
}
