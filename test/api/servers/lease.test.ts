import { expect, test } from 'vitest'
import { MemoryLeases } from '../../../adapters/memory/leases.ts'
import { takeLease } from '../../../api/process/servers/lease.ts'
import type { Leases } from '../../../domain/ports/index.ts'
import { VirtualClock } from '../../support/time/virtual-clock.ts'

const lostOf = (lost: AbortSignal) =>
  new Promise<string>((resolve) => {
    if (lost.aborted) resolve(lost.reason.message)
    else lost.addEventListener('abort', () => resolve(lost.reason.message))
  })

test('it is held for longer than it lasts, one holder at a time, until it is given back', async () => {
  const clock = new VirtualClock()
  const leases = new MemoryLeases(clock)
  const began = clock.now()
  let renewed = 0
  const counting: Leases = {
    acquire: (...asked) => {
      renewed++
      return leases.acquire(...asked)
    },
    release: (...asked) => leases.release(...asked),
  }
  const lease = (await takeLease({ leases: counting, clock, ttlMs: 90 }, 'x', 'a'))!
  while (clock.now() < began + 900) await clock.sleep(10)
  // Three times while it lasts, at most once more at either end.
  expect(renewed).toBeGreaterThanOrEqual(29)
  expect(renewed).toBeLessThanOrEqual(32)
  expect(lease.lost.aborted).toBe(false)
  expect(await takeLease({ leases, clock, ttlMs: 90 }, 'x', 'b')).toBeNull()
  await lease.release()
  const next = (await takeLease({ leases, clock, ttlMs: 90 }, 'x', 'b'))!
  expect(next).not.toBeNull()
  await next.release()
})

test('it is lost where another process has it, and where it cannot be renewed in time, however long the answer takes', async () => {
  const answers: Record<string, () => Promise<boolean>> = {
    taken: async () => false,
    refused: async () => Promise.reject(new Error('no connection')),
    silent: () => new Promise(() => undefined),
  }
  for (const [name, answer] of Object.entries(answers)) {
    const clock = new VirtualClock()
    let first = true
    const acquire = async () => {
      if (!first) return answer()
      first = false
      return true
    }
    const lease = (await takeLease({ leases: { acquire, release: async () => {} }, clock, ttlMs: 60 }, name, 'a'))!
    expect(await lostOf(lease.lost)).toBe(
      `the lease of ${name} is lost: ${name === 'taken' ? 'another process holds it' : 'it could not be renewed'}`,
    )
    await lease.release()
  }
})

test('it counts from before each call, so that it has never passed for others before it has for its holder', async () => {
  for (const [slow, takes] of [
    [1, 50],
    [2, 30],
  ] as const) {
    const clock = new VirtualClock()
    let asked = 0
    let from = 0
    const acquire = async () => {
      if (++asked > slow) return new Promise<boolean>(() => undefined)
      const at = clock.now()
      if (asked === slow) await clock.sleep(takes)
      from = at
      return true
    }
    const lease = (await takeLease({ leases: { acquire, release: async () => {} }, clock, ttlMs: 60 }, 'x', 'a'))!
    await lostOf(lease.lost)
    expect(clock.now()).toBe(from + 60)
    await lease.release()
  }
})

test('where no answer comes while it would last, that is told, and a late lease is not kept', async () => {
  const clock = new VirtualClock()
  const [silent, release] = [Promise.withResolvers<boolean>(), async () => {}]
  const [before, taken] = [
    clock.now(),
    takeLease({ leases: { acquire: () => silent.promise, release }, clock, ttlMs: 60 }, 'x', 'a'),
  ]
  await expect(taken).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  expect(clock.now()).toBe(before + 60)
  silent.reject(new Error('late'))
})

test('it is given back after a renewal that was under way, and so is not taken again', async () => {
  const clock = new VirtualClock()
  const leases = new MemoryLeases(clock)
  const [late, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asked = 0
  const slow: Leases = {
    async acquire(...lease) {
      if (++asked > 1) {
        begun.resolve()
        await late.promise
      }
      return leases.acquire(...lease)
    },
    release: (...lease) => leases.release(...lease),
  }
  const lease = (await takeLease({ leases: slow, clock, ttlMs: 60_000 }, 'x', 'a'))!
  await begun.promise
  const released = lease.release()
  late.resolve()
  await released
  expect(await leases.acquire('x', 'b', 60_000)).toBe(true)
})
