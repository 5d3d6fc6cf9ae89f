import { expect, test } from 'vitest'
import type { Services, WorkNotification } from '../../../api/operations/services.ts'
import { Drivers } from '../../../api/process/drives/drivers.ts'
import { sweep } from '../../../api/process/drives/sweeper.ts'
import { work } from '../../../api/process/drives/work.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { LiveHub } from '../../../api/process/live/hub.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import type { DriveEnd, DriveOptions } from '../../../domain/tree/runtime/drive.ts'

/** A worker with simulated tables, runs and work subscription. */
function played(due: () => readonly string[], drive: (id: string, options: DriveOptions) => Promise<DriveEnd>) {
  const notifications: WorkNotification[] = []
  let news = Promise.withResolvers<void>()
  let sweeps = 0
  let failing: Error | null = null
  const answered: string[] = []
  let trouble: (error: unknown) => void = () => {}
  const notification = (agentId: string, byDriver = false) => {
    notifications.push({ agentId, byDriver, done: () => answered.push(agentId) })
    news.resolve()
  }
  const drivers = new Drivers({ drive }, new LiveHub(), () => {})
  const services = {
    drivers,
    clock: new SystemClock(),
    random: systemRandom,
    read: {
      caughtUp: async () => {
        sweeps++
        if (failing !== null) throw failing
      },
      due: async () => due().map((agentId) => ({ agentId, runId: agentId, wakeAt: 0, reason: 'start' })),
      nextDue: async () => null,
    },
    workSubscription: {
      async *notifications(signal: AbortSignal, onTrouble: (error: unknown) => void) {
        trouble = onTrouble
        signal.addEventListener('abort', () => news.resolve())
        for (;;) {
          yield* notifications.splice(0)
          await news.promise
          if (signal.aborted) return
          news = Promise.withResolvers()
        }
      },
    },
  } as unknown as Services
  const end = new AbortController()
  const [faults, notes]: [string[], string[]] = [[], []]
  const onFault = (error: unknown, where: string) => faults.push(`${where}: ${(error as Error).message}`)
  const done = work({ services, leaseMs: 400, onFault, onNote: (text) => notes.push(text) }, end.signal)
  const stop = async () => {
    end.abort(new Error('the test is over'))
    await done
    await drivers.stop()
  }
  return {
    ...{ notification, answered, drivers, faults, notes, stop, sweeps: () => sweeps },
    trouble: (error: unknown) => trouble(error),
    fail: (error: Error | null) => {
      failing = error
    },
  }
}

const claimedBy = (options: DriveOptions) => options.onEvent?.({ header: { type: 'driver_claimed' } } as never)

test('a notification is answered when the run is claimed, not before; one about nothing at once', async () => {
  const claim = Promise.withResolvers<void>()
  const started: string[] = []
  let due: string[] = []
  const worker = played(
    () => due,
    async (id, options) => {
      started.push(id)
      await claim.promise
      claimedBy(options)
      return new Promise((resolve) => options.drain!.addEventListener('abort', () => resolve({ end: 'interrupted' })))
    },
  )
  worker.notification('nothing')
  worker.notification('driven', true)
  await expect.poll(() => worker.answered).toEqual(['driven', 'nothing'])
  due = ['a']
  worker.notification('a')
  await expect.poll(() => started).toEqual(['a'])
  const before = worker.sweeps()
  worker.notification('b')
  await expect.poll(() => worker.answered).toEqual(['driven', 'nothing', 'b'])
  expect(worker.sweeps()).toBeGreaterThan(before)
  claim.resolve()
  await expect.poll(() => worker.answered).toEqual(['driven', 'nothing', 'b', 'a'])
  await worker.stop()
})

test('a notification whose look failed is not answered; the fault is told once, and looking goes on by itself', async () => {
  const started: string[] = []
  const worker = played(
    () => ['a'],
    async (id) => {
      started.push(id)
      return { end: 'done' }
    },
  )
  await expect.poll(() => started.length).toBeGreaterThan(0)
  worker.fail(new Error('the tables are gone'))
  worker.notification('x')
  const before = worker.sweeps()
  await expect.poll(() => worker.sweeps()).toBeGreaterThan(before + 2)
  expect(worker.answered).toEqual([])
  expect(worker.faults).toEqual(['looking for what is due: the tables are gone'])
  worker.fail(null)
  worker.notification('y')
  await expect.poll(() => worker.answered).toEqual(['y'])
  await worker.stop()
})

test('a worker that ends answers no notification: another one is notified', async () => {
  const started: string[] = []
  const worker = played(
    () => ['a'],
    (id, options) => {
      started.push(id)
      return new Promise((resolve) => options.drain!.addEventListener('abort', () => resolve({ end: 'interrupted' })))
    },
  )
  worker.notification('a')
  await expect.poll(() => started).toEqual(['a'])
  // It rang later: by the time it is answered, only the claim of the first is waited for.
  worker.notification('nothing')
  await expect.poll(() => worker.answered).toEqual(['nothing'])
  await worker.stop()
  await new Promise(setImmediate)
  expect(worker.answered).toEqual(['nothing'])
})

test('what another worker drives is looked at again soon, without a word', async () => {
  let tries = 0
  const worker = played(
    () => ['a'],
    async () => {
      tries++
      throw new CommandRejected('RUN_DRIVEN', 'a is being driven by another process')
    },
  )
  await expect.poll(() => tries).toBeGreaterThan(4)
  expect(worker.notes).toEqual([])
  await worker.stop()
})

test('a subscription that breaks is reported once, without its stack, and once when it works again', async () => {
  const worker = played(
    () => [],
    async () => ({ end: 'done' }),
  )
  const broken = new Error('14 UNAVAILABLE: Connection dropped')
  // Also where nothing is recorded that could notification.
  for (const heard of [null, broken, broken, broken, null, null, broken, broken, null]) worker.trouble(heard)
  const [broke, works] = [expect.stringMatching(/^runs begin.*Connection dropped\)$/), expect.stringMatching(/works$/)]
  expect(worker.notes).toEqual([broke, works, broke, works])
  await worker.stop()
})

test('a look that hangs holds up no process that is told to end, and is no fault', async () => {
  const end = new AbortController()
  const hangs = () => new Promise<never>(() => end.abort(new Error('told to end')))
  const read = { caughtUp: hangs, due: hangs, nextDue: hangs }
  const drivers = new Drivers({ drive: hangs }, new LiveHub(), () => {})
  const faults: unknown[] = []
  const onFault = (error: unknown) => faults.push(error)
  await sweep({ read, drivers, clock: new SystemClock() }, end.signal, onFault, () => {})
  expect(faults).toEqual([])
})
