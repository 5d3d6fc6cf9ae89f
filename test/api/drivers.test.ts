import { describe, expect, it } from 'vitest'
import { LiveHub } from '../../api/live/hub.ts'
import { Drivers } from '../../api/runs/drivers.ts'
import { sweep } from '../../api/runs/sweeper.ts'
import type { DriveEnd } from '../../domain/runtime/types.ts'
import { fakeServices } from '../support/fakes/services.ts'

const WAITS: DriveEnd = { end: 'waiting', for: 'approval', toolCallIds: ['a.t1.c0'] }

describe('drives', () => {
  it('look again where somebody asked while one was ending', async () => {
    const ends: PromiseWithResolvers<DriveEnd>[] = []
    const drive = () => {
      ends.push(Promise.withResolvers())
      return ends.at(-1)!.promise
    }
    const drivers = new Drivers({ drive }, new LiveHub(), () => {})
    drivers.start('a')
    drivers.start('a')
    expect(ends).toHaveLength(1)
    ends[0]!.resolve(WAITS)
    for (let turns = 0; turns < 100 && ends.length < 2; turns++) await Promise.resolve()
    expect(ends).toHaveLength(2)
    ends[1]!.resolve({ end: 'done' })
    await drivers.ended('a')
    expect(drivers.state('a')).toEqual({ driving: false, end: { end: 'done' } })
  })

  it('are interrupted by a stop, and none begins afterwards', async () => {
    const drive = (_: string, { signal }: { signal: AbortSignal }) =>
      new Promise<DriveEnd>((resolve) => signal.addEventListener('abort', () => resolve({ end: 'interrupted' })))
    const drivers = new Drivers({ drive }, new LiveHub(), () => {})
    drivers.start('a')
    await drivers.stop()
    expect(drivers.state('a')).toEqual({ driving: false, end: { end: 'interrupted' } })
    expect(drivers.start('b')).toBe(false)
    expect(drivers.state('b')).toEqual({ driving: false, end: { end: 'interrupted' } })
  })

  it('that fail are told, and leave the run where it was', async () => {
    const faults: unknown[] = []
    const fail = () => Promise.reject(new Error('no room'))
    const drivers = new Drivers({ drive: fail }, new LiveHub(), (id, error) => faults.push([id, error]))
    drivers.start('a')
    await drivers.ended('a')
    expect(drivers.state('a').end).toEqual({ end: 'fault', code: 'DRIVER_FAILED', message: 'no room' })
    expect(faults).toHaveLength(1)
  })
})

describe('the sweeper', () => {
  it('wakes what is due, catches up before it looks, and sleeps until the next', async () => {
    const services = fakeServices()
    const told: string[] = []
    const over = new AbortController()
    const slept: number[] = []
    const read = {
      ...services.read,
      caughtUp: async () => void told.push('caught up'),
      due: async (before: number) => {
        told.push(`due ${before}`)
        return before === 1000 ? [{ agentId: 'a', wakeAt: 900, reason: 'drive' }] : []
      },
      nextDue: async () => 1500,
    }
    let now = 1000
    const clock = {
      now: () => now,
      sleep: async (ms: number) => {
        slept.push(ms)
        now += ms
        if (slept.length === 2) over.abort()
      },
    }
    const driven: string[] = []
    const drive = async (id: string): Promise<DriveEnd> => {
      driven.push(id)
      return WAITS
    }
    const drivers = new Drivers({ drive }, services.live, () => {})
    await sweep({ ...services, read: read as never, clock, drivers }, over.signal, (error) => {
      throw error
    })
    expect([driven, slept, told]).toEqual([['a'], [500, 1], ['caught up', 'due 1000', 'caught up', 'due 1500']])
  })
})
