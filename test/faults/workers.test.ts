import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { found } from '../support/postgres-server.ts'
import { allRight, deployment } from '../support/servers/actors.ts'
import { openPair, type Pair } from '../support/servers/pair.ts'

// Real processes over a stand-in for EventStoreDB, or a real one, and a real PostgreSQL.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let pair: Pair
beforeAll(async () => {
  if (found === null) throw new Error('there is no PostgreSQL here; install it (apt-get install postgresql)')
  pair = await openPair()
})
afterAll(() => pair?.stop())

test('two workers, one killed and one stopped past its leases and let go: every run ends right, no effect twice', async () => {
  const { work, done, check } = deployment(pair.fresh())
  const [first, second] = [await work(), await work()]
  await done('start', 12)
  await first.said('effect', 2)
  first.kill('SIGKILL')
  await second.said('effect', 2)
  second.kill('SIGSTOP')
  // Its leases pass, and another one takes over what it drives.
  const third = await work()
  await third.said('effect', 3)
  second.kill('SIGCONT')
  // Nobody decides what became of a call that may still be performed.
  await second.answers()
  await done('settle', 12)
  const checked = await check()
  expect(checked).toMatchObject(allRight(12))
  expect(checked.epochs.most).toBeGreaterThan(1)
})

test('processes that begin at once on an empty pair of servers make one log and one set of tables', async () => {
  const { work, done, check } = deployment(pair.fresh())
  await Promise.all([work(), work(), done('start', 2), done('start', 2)])
  await done('settle', 4)
  expect(await check()).toMatchObject(allRight(4))
})

test('PostgreSQL is restarted, and the connections to the log are cut, in the middle: everything goes on', async () => {
  const { work, done, check } = deployment(pair.fresh())
  const workers = [await work(), await work()]
  await done('start', 12)
  for (const worker of workers) {
    await worker.said('effect', 3)
    pair.postgres.stop('immediate')
    await pair.cut()
    pair.postgres.start()
  }
  await done('settle', 12)
  expect(await check()).toMatchObject(allRight(12))
})

test('a worker that is told to end lets what it has begun end: nothing is in doubt, and another one goes on', async () => {
  const { work, done, check } = deployment(pair.fresh())
  const first = await work()
  await done('start', 12)
  await first.said('effect', 3)
  first.kill('SIGTERM')
  await first.said('closed')
  expect(await first.ended).toBe(0)
  await work()
  expect(await done('settle', 12)).toEqual(['closed'])
  expect(await check()).toMatchObject(allRight(12))
})
