import { describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../../adapters/workspace/error.ts'
import { Drivers } from '../../../api/process/drives/drivers.ts'
import { sweep } from '../../../api/process/drives/sweeper.ts'
import { LiveHub } from '../../../api/process/live/hub.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { DriveEnd, DriveOptions } from '../../../domain/tree/runtime/drive.ts'

const WAITS: DriveEnd = { end: 'waiting', for: 'approval', toolCallIds: ['a.t1.c0'] }

describe('drives', () => {
  it('look again where a start was asked for while one was ending', async () => {
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

  it('are given time to end what is at work, and broken off when it is over', async () => {
    const said: string[] = []
    const drive = (id: string, { signal, drain }: DriveOptions) =>
      new Promise<DriveEnd>((resolve) => {
        drain!.addEventListener('abort', () => {
          said.push(`${id} drains`)
          if (id !== 'quick') return
          setImmediate(() => {
            said.push('quick has ended')
            resolve({ end: 'interrupted' })
          })
        })
        signal.addEventListener('abort', () => {
          said.push(`${id} is broken off`)
          resolve({ end: 'interrupted' })
        })
      })
    const quick = new Drivers({ drive }, new LiveHub(), () => {})
    quick.start('quick')
    // Nothing is left to wait for: an hour is not waited out.
    await quick.stop(3_600_000)
    const stuck = new Drivers({ drive }, new LiveHub(), fail)
    stuck.start('stuck')
    const patient = stuck.stop(3_600_000)
    await stuck.stop(0)
    await patient
    expect(said.slice(0, 2)).toEqual(['quick drains', 'quick has ended'])
    expect(said.slice(-2)).toEqual(['stuck drains', 'stuck is broken off'])
    // A stop that was not asked for is told.
    const slow = new Drivers({ drive }, new LiveHub(), (id, error) => said.push(`${id}: ${(error as Error).message}`))
    slow.start('slow')
    await slow.stop(1)
    expect(said.slice(-2)).toEqual([expect.stringMatching(/^slow: .*within 1 ms.*broken off/), 'slow is broken off'])
  })

  it('are so many at once, the others in the order in which they came', async () => {
    const began: string[] = []
    const ends = new Map<string, () => void>()
    const drive = (id: string) => {
      began.push(id)
      return new Promise<DriveEnd>((resolve) => ends.set(id, () => resolve({ end: 'done' })))
    }
    const drivers = new Drivers({ drive }, new LiveHub(), () => {}, 2)
    for (const id of ['a', 'b', 'c', 'd']) expect(drivers.start(id)).toBe(true)
    expect([began, drivers.count, drivers.state('d').driving]).toEqual([['a', 'b'], 4, true])
    ends.get('b')!()
    await drivers.ended('b')
    expect(began).toEqual(['a', 'b', 'c'])
    const stopped = drivers.stop(60_000)
    for (const id of ['a', 'c']) ends.get(id)!()
    await stopped
    // Its turn came when nothing new was to be begun.
    expect([began, drivers.state('d').end]).toEqual([['a', 'b', 'c'], { end: 'interrupted' }])
  })

  it('that cannot go on for a known reason say which, and are no fault of ours', async () => {
    const faults: unknown[] = []
    const drive = () => Promise.reject(new LogError('LOG_FULL', 'no room'))
    const drivers = new Drivers({ drive }, new LiveHub(), (_, error) => faults.push(error))
    drivers.start('a')
    await drivers.ended('a')
    expect([drivers.state('a').end, faults]).toEqual([{ end: 'fault', code: 'LOG_FULL', message: 'no room' }, []])
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
    const told: string[] = []
    const over = new AbortController()
    const slept: number[] = []
    const read = {
      caughtUp: async () => void told.push('caught up'),
      due: async (before: number) => {
        told.push(`due ${before}`)
        return before === 1000 ? [{ agentId: 'a', runId: 'a', wakeAt: 900, reason: 'drive' }] : []
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
    const drivers = new Drivers({ drive }, new LiveHub(), () => {})
    await sweep({ read, clock, drivers }, over.signal, fail, fail)
    expect([driven, slept, told]).toEqual([['a'], [500, 1], ['caught up', 'due 1000', 'caught up', 'due 1500']])
  })

  it('waits longer each time for what is due again right after its drive, and says once why', async () => {
    const busy = new WorkspaceError('WORKSPACE_BUSY', 'another run works there')
    const { at, said } = await sweptWhileRefused(busy, { untilMs: 700_000, othersDueInMs: 10, reason: () => 'start' })
    expect(at).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 127_000, 255_000, 511_000])
    expect(said).toEqual([expect.stringMatching(/^a: another run works there/)])
  })

  it.each(['TOOLS_MISSING', 'PROVIDER_MISSING'] as const)(
    'leaves a run to the program that has its parts, until it is to end, which needs none: %s',
    async (code) => {
      const foreign = new CommandRejected(code, 'its parts are not here')
      const reason = (now: number) => (now < 300_000 ? 'start' : 'cancel')
      const { at, said } = await sweptWhileRefused(foreign, { untilMs: 600_000, othersDueInMs: 1_000, reason })
      expect(at.slice(0, 4)).toEqual([0, 300_000, 301_000, 303_000])
      expect(said).toEqual(['a: its parts are not here'])
    },
  )

  it('looks ever less often while its clock, which was set back, stands still', async () => {
    const over = new AbortController()
    let now = 1_000
    const slept: number[] = []
    const clock = {
      now: () => now,
      sleep: async (ms: number) => {
        slept.push(ms)
        if (slept.length === 13) now += ms
        if (slept.length === 14) over.abort()
      },
    }
    const read = { caughtUp: async () => undefined, due: async () => [], nextDue: async () => now + 1 }
    const drivers = new Drivers({ drive: async () => WAITS }, new LiveHub(), fail)
    await sweep({ read, clock, drivers }, over.signal, fail, fail)
    expect(slept).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_000, 1_000, 1])
  })

  it('computes its wait anew when an agent has begun to wait, and looks no more often than that', async () => {
    const over = new AbortController()
    const slept: number[] = []
    const asleep = () => Promise.withResolvers<void>()
    let sleeping = asleep()
    const clock = {
      now: () => 1_000,
      sleep: (ms: number, signal?: AbortSignal) => {
        slept.push(ms)
        sleeping.resolve()
        return new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
      },
    }
    let expiresAt: number | null = null
    let looks = 0
    const read = {
      caughtUp: async () => void looks++,
      due: async () => [],
      nextDue: async () => expiresAt,
    }
    const drivers = new Drivers({ drive: async () => WAITS }, new LiveHub(), fail)
    const swept = sweep({ read, clock, drivers }, over.signal, fail, fail)
    await sleeping.promise
    for (const [id, at] of [
      ['a', 8_000],
      ['b', 3_000],
    ] as const) {
      sleeping = asleep()
      expiresAt = at
      drivers.start(id)
      await sleeping.promise
    }
    over.abort()
    await swept
    expect({ slept, looks }).toEqual({ slept: [60_000, 7_000, 2_000], looks: 3 })
    expect(drivers.start('c')).toBe(true)
  })

  it('begins anew with what has got on meanwhile', async () => {
    const over = new AbortController()
    let now = 0
    const at: number[] = []
    const clock = {
      now: () => now,
      sleep: async () => {
        now += 500
        if (now > 3_000) over.abort()
      },
    }
    const drivers = new Drivers({ drive: async () => WAITS }, new LiveHub(), fail)
    const start = (id: string) => {
      at.push(now)
      return drivers.start(id)
    }
    const due = async () =>
      now === 500 || now === 2_000 ? [] : [{ agentId: 'a', runId: 'a', wakeAt: 0, reason: 'retry' }]
    const read = { caughtUp: async () => {}, due, nextDue: async () => null }
    await sweep(
      { read, clock, drivers: { state: (id) => drivers.state(id), start, onWaiting: () => () => {} } },
      over.signal,
      fail,
      fail,
    )
    expect(at).toEqual([0, 1_000, 2_500])
  })
})

const fail = (error: unknown): never => {
  throw error
}

/** When a run that is due all the time, and each of whose drives ends with `why`, was driven, and what was said of it. */
async function sweptWhileRefused(
  why: Error,
  times: { readonly untilMs: number; readonly othersDueInMs: number; readonly reason: (now: number) => string },
): Promise<{ at: readonly number[]; said: readonly string[] }> {
  const over = new AbortController()
  const [at, said]: [number[], string[]] = [[], []]
  let now = 0
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms
      if (now > times.untilMs) over.abort()
    },
  }
  const drive = () => {
    at.push(now)
    return Promise.reject(why)
  }
  const drivers = new Drivers({ drive }, new LiveHub(), fail)
  const due = async () => {
    await drivers.ended('a')
    return [{ agentId: 'a', runId: 'a', wakeAt: 0, reason: times.reason(now) }]
  }
  const read = { caughtUp: async () => {}, due, nextDue: async () => now + times.othersDueInMs }
  await sweep({ read, clock, drivers }, over.signal, fail, (text) => said.push(text))
  return { at, said }
}
