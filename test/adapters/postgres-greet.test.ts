import type { Pool, PoolClient } from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { waitForServer } from '../../adapters/postgres/query.ts'

afterEach(() => void vi.useRealTimers())

/** A server that refuses connections for some time. */
const restarting = (ms: number): Pick<Pool, 'connect'> => {
  const up = performance.now() + ms
  const connect = async () => {
    if (performance.now() < up) throw Object.assign(new Error('the database system is starting up'), { code: '57P03' })
    return { release: () => undefined } as PoolClient
  }
  return { connect: connect as Pool['connect'] }
}

test.each([
  [8_000, undefined, true],
  [30_000, undefined, false],
  [200_000, 300_000, true],
])('a server that restarts for %i ms is waited for within %o ms: %o', async (ms, patience, answered) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  const greeted = waitForServer(restarting(ms), patience).then(
    () => true,
    (error) => error.code !== 'LOG_UNAVAILABLE',
  )
  await vi.advanceTimersByTimeAsync(400_000)
  expect(await greeted).toBe(answered)
})
