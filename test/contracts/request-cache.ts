import { expect, test } from 'vitest'
import type { RequestCache } from '../../domain/ports/index.ts'

/** The promises of every request cache. `pass`: lets so many ms go by. */
export function requestCacheContract(
  open: () => Promise<{ cache: RequestCache; again(): Promise<RequestCache>; pass(ms: number): Promise<void> }>,
): void {
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]

  test('an answer stands for its key, the last one, also for another process', async () => {
    const { cache, again } = await open()
    expect(await cache.get(a)).toBeNull()
    await cache.put(a, '{"é":"old"}')
    await cache.put(a, '{"é":"new 😀"}')
    expect([await cache.get(a), await cache.get(b)]).toEqual(['{"é":"new 😀"}', null])
    expect(await (await again()).get(a)).toBe('{"é":"new 😀"}')
  })

  test('after five minutes there is none', async () => {
    const { cache, pass } = await open()
    await cache.put(a, 'x')
    await pass(299_000)
    expect(await cache.get(a)).toBe('x')
    await pass(2_000)
    expect(await cache.get(a)).toBeNull()
    await cache.put(b, 'y')
    expect([await cache.get(a), await cache.get(b)]).toEqual([null, 'y'])
  })

  test('a clear leaves nothing', async () => {
    const { cache } = await open()
    await cache.clear()
    await cache.put(a, 'x')
    await cache.put(b, 'y')
    await cache.clear()
    expect([await cache.get(a), await cache.get(b)]).toEqual([null, null])
    await cache.put(a, 'z')
    expect(await cache.get(a)).toBe('z')
  })
}
