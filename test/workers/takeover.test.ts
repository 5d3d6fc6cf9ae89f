// @module-tag postgresql
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { allRight, deployment } from '../support/servers/actors.ts'
import { openPair, type Pair } from '../support/servers/pair.ts'

// Real processes over a stand-in for EventStoreDB, or a real one, and a real PostgreSQL. Workers that a test does
// something to are held inside their calls meanwhile, so that none depends on who is faster.

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

/** Runs, and how many of them a worker drives at once: two workers that are held leave some for a third. */
const [RUNS, AT_ONCE] = [12, 4]

let pair: Pair
beforeAll(async () => {
  pair = await openPair()
})
afterAll(() => pair?.stop())

test('two workers, one killed and one stopped past its leases and let go: every run ends right, no effect twice', async () => {
  const { act, work, hold, done, check } = deployment(pair.fresh())
  await done('start', RUNS)
  const [first, second] = await Promise.all([hold(AT_ONCE), hold(AT_ONCE)])
  await Promise.all([first.said('effect', AT_ONCE), second.said('effect', AT_ONCE)])
  first.kill('SIGKILL')
  second.kill('SIGSTOP')
  // Another worker starts the runs without a driver, and takes over the others when their leases have passed.
  await work(AT_ONCE)
  const settling = act('settle', RUNS)
  await settling.said('decided', 2 * AT_ONCE)
  second.kill('SIGCONT')
  second.tell('go')
  expect(await second.drained()).toBe(0)
  await settling.said('closed')
  const checked = await check()
  expect(checked).toMatchObject(allRight(RUNS))
  expect(checked.epochs.most).toBeGreaterThan(1)
})

test('processes that begin at once on an empty pair of servers make one log and one set of tables', async () => {
  const { work, done, check } = deployment(pair.fresh())
  await Promise.all([work(), work(), done('start', 2), done('start', 2)])
  await done('settle', 4)
  expect(await check()).toMatchObject(allRight(4))
})

test('PostgreSQL is restarted, and the connections to the log are cut, in the middle: everything goes on', async () => {
  const { hold, done, check } = deployment(pair.fresh())
  await done('start', RUNS)
  const workers = await Promise.all([hold(AT_ONCE), hold(AT_ONCE)])
  await Promise.all(workers.map((worker) => worker.said('effect', AT_ONCE)))
  for (const worker of workers) {
    pair.postgres.stop('immediate')
    worker.tell('go')
    await pair.cut()
    pair.postgres.start()
  }
  await done('settle', RUNS)
  expect(await check()).toMatchObject(allRight(RUNS))
})

test('a worker at SIGTERM lets its running work end: nothing is in doubt, and another worker goes on', async () => {
  // No lease passes while a worker that is well finds no time to renew it.
  const { work, hold, done, check } = deployment({ ...pair.fresh(), KEEPUP_LEASE_MS: '30000' })
  await done('start', RUNS)
  const first = await hold(AT_ONCE)
  await first.said('effect', AT_ONCE)
  const drained = first.drained()
  first.tell('go')
  expect(await drained).toBe(0)
  await work()
  // That it has waited for a server is all that it may say beside.
  expect((await done('settle', RUNS)).filter((line) => !line.startsWith('stderr: '))).toEqual(['closed'])
  expect(await check()).toMatchObject(allRight(RUNS))
})
