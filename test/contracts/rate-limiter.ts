import { expect, test } from 'vitest'
import type { SharedLimit } from '../../adapters/memory/rate-limit.ts'
import type { RateLimiter } from '../../domain/ports/index.ts'

/** A limiter whose limit of a model is told by the given function. */
export type OpenLimiter = (limitOf: (model: string) => SharedLimit) => Promise<RateLimiter>

/** The promises of every limiter. */
export function rateLimiterContract(open: OpenLimiter): void {
  const free = (model: string): SharedLimit => ({ key: model, perMinute: null })

  test('nothing is held back before a provider refuses, whatever comes', async () => {
    const limiter = await open(free)
    expect(await Promise.all(Array.from({ length: 20 }, () => limiter.admit('a')))).toEqual(Array(20).fill(0))
  })

  test('after a refusal no call of the key is made in time, and those of others are', async () => {
    const limiter = await open((model) => ({ key: model[0]!, perMinute: null }))
    await limiter.refused('a1', 20_000)
    await limiter.refused('a2', 5_000)
    const wait = await limiter.admit('a3')
    expect(wait).toBeGreaterThan(15_000)
    expect(wait).toBeLessThanOrEqual(20_000)
    expect(await limiter.admit('b1')).toBe(0)
    await limiter.refused('b1', 0)
    expect(await limiter.admit('b1')).toBe(0)
  })

  test('a pace lets a tenth of a minute go at once, and counts only what is made', async () => {
    const limiter = await open((model) => ({ key: model, perMinute: 30 }))
    const waits = []
    for (let n = 0; n < 6; n++) waits.push(await limiter.admit('a'))
    expect(waits.slice(0, 3)).toEqual([0, 0, 0])
    for (const wait of waits.slice(3)) {
      expect(wait).toBeGreaterThan(500)
      expect(wait).toBeLessThanOrEqual(2_000)
    }
  })
}
