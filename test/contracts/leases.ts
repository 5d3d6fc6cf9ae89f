import { expect, test } from 'vitest'
import type { Leases } from '../../domain/ports/index.ts'

export interface LeasesFactory {
  /** None is held. */
  open(): Promise<Leases>
  /** Lets time pass where the leases have theirs from (ms). */
  advance(ms: number): Promise<void>
}

/** The promises of every Leases. */
export function leasesContract({ open, advance }: LeasesFactory): void {
  test('one driver holds an agent, and may renew; others hold others', async () => {
    const leases = await open()
    expect(await leases.acquire('a', 'd1', 1_000_000)).toBe(true)
    expect(await leases.acquire('a', 'd2', 1_000_000)).toBe(false)
    expect(await leases.acquire('b', 'd2', 1_000_000)).toBe(true)
    await advance(900_000)
    expect(await leases.acquire('a', 'd1', 1_000_000)).toBe(true)
    await advance(900_000)
    expect(await leases.acquire('a', 'd2', 1_000_000)).toBe(false)
    expect(await leases.acquire('b', 'd1', 1_000_000)).toBe(true)
  })

  test('another driver may take a lease that was not renewed, and the late renewal is refused', async () => {
    const leases = await open()
    await leases.acquire('a', 'd1', 10_000)
    await advance(10_001)
    expect(await leases.acquire('a', 'd2', 60_000)).toBe(true)
    expect(await leases.acquire('a', 'd1', 60_000)).toBe(false)
  })

  test('the last renewal counts, also a shorter one', async () => {
    const leases = await open()
    await leases.acquire('a', 'd1', 60_000)
    await leases.acquire('a', 'd1', 5_000)
    await advance(5_001)
    expect(await leases.acquire('a', 'd2', 1_000)).toBe(true)
  })

  test('release frees it for others, but only who holds it can', async () => {
    const leases = await open()
    await leases.acquire('a', 'd1', 60_000)
    await leases.release('a', 'd2')
    expect(await leases.acquire('a', 'd2', 60_000)).toBe(false)
    await leases.release('a', 'd1')
    await leases.release('a', 'd1')
    expect(await leases.acquire('a', 'd2', 60_000)).toBe(true)
    await leases.release('a', 'd1')
    expect(await leases.acquire('a', 'd1', 60_000)).toBe(false)
  })

  test('of many that ask at once, one gets it', async () => {
    const leases = await open()
    const drivers = Array.from({ length: 20 }, (_, i) => `d${i}`)
    const got = await Promise.all(drivers.map((driver) => leases.acquire('a', driver, 60_000)))
    expect(got.filter(Boolean)).toHaveLength(1)
    await advance(60_001)
    const again = await Promise.all(drivers.map((driver) => leases.acquire('a', driver, 60_000)))
    expect(again.filter(Boolean)).toHaveLength(1)
  })

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 86_400_001])('%d ms are refused', async (ttlMs) => {
    await expect((await open()).acquire('a', 'd', ttlMs)).rejects.toThrow(/at most a day/)
  })
}
