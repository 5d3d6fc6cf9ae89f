import { expect, test } from 'vitest'
import { MemoryLeases } from '../../../adapters/leases-memory/leases.ts'
import { takeLease } from '../../../api/servers/lease.ts'
import type { Leases } from '../../../domain/ports.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

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

test('it is lost where somebody else has it, and where it cannot be renewed in time, however long the answer takes', async () => {
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
