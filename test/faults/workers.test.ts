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
  await second.answers()
  await done('settle', 12)
  expect(await check()).toMatchObject(allRight(12))
})
