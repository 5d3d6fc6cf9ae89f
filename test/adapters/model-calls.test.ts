import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MemoryLimiter } from '../../adapters/memory/rate-limiter.ts'
import { PostgresLimiter } from '../../adapters/postgres/rate-limiter.ts'
import { PostgresRequestCache } from '../../adapters/postgres/request-cache.ts'
import { SqliteRequestCache } from '../../adapters/sqlite/request-cache.ts'
import { rateLimiterContract } from '../contracts/rate-limiter.ts'
import { requestCacheContract } from '../contracts/request-cache.ts'
import { tempFolder } from '../support/folders.ts'
import { TestClock } from '../support/harness.ts'
import { describeWithSharedPostgres } from '../support/postgres/postgres.ts'
import { schemasOf } from '../support/projections/postgres-kit.ts'

class SteppedClock extends TestClock {
  async pass(ms: number): Promise<void> {
    this.time += ms
  }
}

describe('limits in memory', () => {
  rateLimiterContract(async (limitOf) => new MemoryLimiter(new TestClock(), limitOf))
})

describe('the request cache in a SQLite file', () => {
  const open = async (path = join(tempFolder(), 'request-cache.db')) => {
    const clock = new SteppedClock()
    const made = () => {
      const cache = new SqliteRequestCache(path, clock)
      onTestFinished(() => cache.close())
      return cache
    }
    const pass = (ms: number) => clock.pass(ms)
    return { path, cache: made(), again: async () => made(), pass }
  }
  requestCacheContract(open)

  test('a file that is no database is replaced, and cleared answers are not in it', async () => {
    const path = join(tempFolder(), 'request-cache.db')
    writeFileSync(path, 'no database at all, but long enough to be looked at as one'.repeat(100))
    const { cache } = await open(path)
    await cache.put('k', 'the plain answer')
    expect(await cache.get('k')).toBe('the plain answer')
    await cache.clear()
    for (const file of [path, `${path}-wal`]) expect(readFileSync(file, 'latin1')).not.toContain('the plain')
    cache.close()
    await cache.put('k', 'x')
    await cache.clear()
    expect(await cache.get('k')).toBeNull()
  })
})

describeWithSharedPostgres('what calls of models share on PostgreSQL', (server) => {
  const schemas = schemasOf(server)

  describe('limits', () => {
    rateLimiterContract((limitOf) => PostgresLimiter.open({ pool: schemas.pool(), schema: schemas.fresh(), limitOf }))

    test('processes count together', async () => {
      const [pool, schema] = [schemas.pool(), schemas.fresh()]
      const limitOf = () => ({ key: 'k', perMinute: 100 })
      const two = await Promise.all([1, 2].map(() => PostgresLimiter.open({ pool, schema, limitOf })))
      const waits = await Promise.all(Array.from({ length: 30 }, (_, n) => two[n % 2]!.admit('m')))
      expect(waits.filter((wait) => wait === 0).length).toBeGreaterThanOrEqual(10)
      expect(waits.filter((wait) => wait === 0).length).toBeLessThanOrEqual(13)
    })
  })

  describe('the request cache', () => {
    requestCacheContract(async () => {
      const [pool, schema] = [schemas.pool(), schemas.fresh()]
      const open = () => PostgresRequestCache.open({ pool, schema })
      const pass = async (ms: number) => {
        await pool.query(`update ${schema}.answers set at = at - $1::double precision * interval '1 millisecond'`, [ms])
      }
      return { cache: await open(), again: open, pass }
    })
  })
})
