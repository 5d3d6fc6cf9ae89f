// @module-tag postgresql
import { afterAll, beforeAll, expect, test } from 'vitest'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'
import { disturb } from '../support/network/fault-schedule.ts'
import { allRight, deployment } from '../support/servers/actors.ts'
import { openPair, type Pair } from '../support/servers/pair.ts'

const WORKERS = 3
const [RUNS, TREES, WIDTH] = [16, 1, 2]
/** The faults end when the workers have had this many effects. */
const LAST = 30

let pair: Pair
let cluster: Pair
beforeAll(async () => {
  ;[pair, cluster] = await Promise.all([openPair(), openPair({ cluster: true })])
})
afterAll(() => Promise.all([pair?.stop(), cluster?.stop()]))

test(`runs and a tree over workers whose network fails (FAULT_SEED=${FAULT_SEED})`, async () => {
  const { work, done, check, effectsLeft } = deployment({ ...pair.fresh(), KEEPUP_TREE_WIDTH: String(WIDTH) })
  await Promise.all([done('start', RUNS), done('grow', TREES)])
  const networks = await Promise.all(Array.from({ length: WORKERS }, () => pair.link()))
  const workers = await Promise.all(networks.map(({ env }) => work(8, env)))
  const over = new AbortController()
  const proxies = networks.flatMap((network) => network.proxies)
  const disturbing = disturb(proxies, draws(FAULT_SEED), over.signal)
  await effectsLeft(LAST)
  over.abort()
  const faults = await disturbing
  // Doubts may be decided only when no process still performs the call.
  for (const worker of workers) expect(await worker.drained()).toBe(0)
  await work(8)
  await done('settle', RUNS + TREES)
  expect(await check()).toMatchObject(allRight(RUNS + TREES))
  expect(faults.length).toBeGreaterThan(0)
})

test('workers whose clocks are wrong: every run ends right, also those of a killed and of a stopped one', async () => {
  const { work, hold, done, check } = deployment({ ...pair.fresh(), KEEPUP_TREE_WIDTH: String(WIDTH) })
  await Promise.all([done('start', 8), done('grow', 1)])
  // Two hours ahead, two hours behind, and an hour behind at half the speed.
  const [ahead, behind] = await Promise.all([hold(3, { KEEPUP_SKEW: '7200000' }), hold(3, { KEEPUP_SKEW: '-7200000' })])
  await Promise.all([ahead.said('effect', 3), behind.said('effect', 3)])
  ahead.kill('SIGKILL')
  behind.kill('SIGSTOP')
  const slow = await work(8, { KEEPUP_SKEW: '-3600000 0.5' })
  await slow.said('effect', 2)
  behind.kill('SIGCONT')
  behind.tell('go')
  expect(await behind.drained()).toBe(0)
  await done('settle', 9)
  const checked = await check()
  expect(checked).toMatchObject(allRight(9))
  expect(checked.epochs.most).toBeGreaterThan(1)
})

test('workers whose cluster changes its leader, loses one and loses its quorum: every run ends right', async () => {
  const { work, done, check, effectsLeft } = deployment(cluster.fresh())
  await done('start', 12)
  const workers = await Promise.all([work(6), work(6)])
  const orders = [
    ['elect 1'],
    ['kill 1', 'elect 2'],
    ['start 1', 'quorum lost'],
    ['elect 0'],
    ['freeze 0', 'elect 2', 'thaw 0'],
  ]
  for (const [n, lines] of orders.entries()) {
    if (n !== 3) await effectsLeft(4 * (n + 1))
    for (const line of lines) await cluster.tell(line)
  }
  await done('settle', 12)
  for (const worker of workers) expect(await worker.drained()).toBe(0)
  expect(await check()).toMatchObject(allRight(12))
})
