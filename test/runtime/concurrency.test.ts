import { describe, expect, test } from 'vitest'
import { KeyedMutex, Mutex, Semaphore } from '../../domain/stream/runtime/concurrency.ts'

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Work that ends when it is told to; `begun` lists what has begun. */
function works() {
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const work = (name: string) => async () => {
    begun.push(name)
    const end = Promise.withResolvers<void>()
    ends.set(name, end)
    await end.promise
    return name
  }
  return {
    begun,
    work,
    end: (name: string) => ends.get(name)!.resolve(),
    fail: (name: string) => ends.get(name)!.reject(new Error(name)),
  }
}

describe('a semaphore', () => {
  test('begins as many as it counts, the others in the order in which they came', async () => {
    const { begun, work, end } = works()
    const two = new Semaphore(2)
    const all = ['a', 'b', 'c', 'd'].map((name) => two.run(work(name)))
    await settled()
    expect(begun).toEqual(['a', 'b'])
    end('b')
    await settled()
    expect(begun).toEqual(['a', 'b', 'c'])
    for (const name of ['a', 'c']) end(name)
    await settled()
    end('d')
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('is left by what waits when its signal aborts: the others go on in their order', async () => {
    const { begun, work, end } = works()
    const one = new Semaphore(1)
    const stop = new AbortController()
    const all = [one.run(work('a')), one.run(work('b'), stop.signal), one.run(work('c'), new AbortController().signal)]
    stop.abort('gone')
    await expect(all[1]).rejects.toBe('gone')
    await expect(one.run(work('d'), stop.signal)).rejects.toBe('gone')
    end('a')
    await settled()
    expect(begun).toEqual(['a', 'c'])
    end('c')
    await all[2]
    // A signal that aborts after the turn has come takes nothing from the others.
    const late = new AbortController()
    const last = one.run(work('e'), late.signal)
    late.abort('late')
    end('e')
    expect(await last).toBe('e')
    const free = one.run(work('f'))
    expect(begun.at(-1)).toBe('f')
    end('f')
    await free
  })
})

describe('a mutex', () => {
  test('goes on after work that failed', async () => {
    const { begun, work, end, fail } = works()
    const mutex = new Mutex()
    const [first, second] = [mutex.run(work('a')), mutex.run(work('b'))]
    fail('a')
    await expect(first).rejects.toThrow('a')
    await settled()
    expect(begun).toEqual(['a', 'b'])
    end('b')
    expect(await second).toBe('b')
  })
})

describe('a keyed mutex', () => {
  test('lets only work of the same key wait', async () => {
    const { begun, work, end } = works()
    const keyed = new KeyedMutex()
    const all = [keyed.run('k', work('a')), keyed.run('k', work('b')), keyed.run('other', work('c'))]
    await settled()
    expect(begun).toEqual(['a', 'c'])
    end('a')
    await settled()
    expect(begun).toEqual(['a', 'c', 'b'])
    for (const name of ['b', 'c']) end(name)
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c'])
  })
})
