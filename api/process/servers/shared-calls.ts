import type { Pool } from 'pg'
import type { SharedLimit } from '../../../adapters/memory/rate-limit.ts'
import { MemoryLimiter } from '../../../adapters/memory/rate-limiter.ts'
import { PostgresLimiter } from '../../../adapters/postgres/rate-limiter.ts'
import { PostgresRequestCache } from '../../../adapters/postgres/request-cache.ts'
import type { Clock, RateLimiter, RequestCache } from '../../../domain/ports/index.ts'
import type { Tell } from '../../operations/notices.ts'

interface Options {
  readonly pool: Pool
  readonly schema: string
  readonly clock: Clock
  readonly warn: Tell
  limitOf(model: string): SharedLimit
}

/**
 * The state of model calls that the processes of a deployment share: the rate limits of a provider's key, and the
 * cache. If its tables cannot be created, this process enforces the limits alone, caches no answers, and reports that.
 */
export async function sharedByCalls({
  pool,
  schema,
  clock,
  warn,
  limitOf,
}: Options): Promise<{ readonly limiter: RateLimiter; readonly cache?: RequestCache }> {
  try {
    const limiter = await PostgresLimiter.open({ pool, schema, limitOf })
    return { limiter, cache: await PostgresRequestCache.open({ pool, schema }) }
  } catch (error) {
    const why = (error as Error).message
    warn(`rate limits are those of this process alone, and there is no request cache: ${why}`)
    return { limiter: new MemoryLimiter(clock, limitOf) }
  }
}
