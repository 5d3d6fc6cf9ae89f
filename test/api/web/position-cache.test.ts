import { expect, it } from 'vitest'
import { PositionCache } from '../../../api/web/run/position-cache.ts'

it('an answer that comes late does not replace a newer position that was known', async () => {
  const waiting = new Map<number, (text: string) => void>()
  const cache = new PositionCache(
    (revision) => new Promise<string>((resolve) => waiting.set(revision, resolve)),
    String,
  )
  const answer = async (revision: number) => {
    waiting.get(revision)!(`state ${revision}`)
    await new Promise((done) => setTimeout(done))
  }
  cache.show(22)
  await answer(22)
  cache.show(21)
  cache.show(22)
  await answer(21)
  expect(cache.current.value).toBe('state 22')
  // An answer on the way to a position that is not known yet is shown.
  cache.show(1)
  cache.show(2)
  await answer(1)
  expect(cache.current.value).toBe('state 1')
  await answer(2)
  expect(cache.current.value).toBe('state 2')
})
