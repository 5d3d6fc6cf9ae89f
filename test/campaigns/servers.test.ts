// @module-tag postgresql
import { afterAll, beforeAll, expect, test } from 'vitest'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'
import { disturb } from '../support/network/fault-schedule.ts'
import { type Actor, allRight, deployment } from '../support/servers/actors.ts'
import { openPair, type Pair } from '../support/servers/pair.ts'

// RUNS runs and TREES trees of 15 agents over 4 workers, each behind networks of its own, for MINUTES minutes: new work is
// started until then, and the networks fail, workers are killed and frozen, and PostgreSQL crashes. Then all faults stop.

const MINUTES = Number(process.env.MINUTES ?? 5)
const [RUNS, TREES] = [Number(process.env.RUNS ?? 1000), Number(process.env.TREES ?? 50)]
const [WORKERS, AT_ONCE] = [4, 16]
const MIB = 1024 * 1024
/** Work is started in so many parts, spread over the first half of the time. */
const PARTS = 10

let pair: Pair
beforeAll(async () => {
  pair = await openPair()
})
afterAll(() => pair?.stop())

interface Figures {
  readonly rss: number
  readonly delayMs: number
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function figuresOf(worker: Actor): Promise<Figures> {
  const told = worker.lines.filter((line) => line.startsWith('figures ')).length
  worker.tell('figures')
  const lines = await worker.said('figures ', told + 1)
  return JSON.parse(lines.at(-1)!.slice('figures '.length)) as Figures
}

test(`${RUNS} runs and ${TREES} trees for ${MINUTES} min of faults (FAULT_SEED=${FAULT_SEED})`, async () => {
  const { work, done, check } = deployment({ ...pair.fresh(), KEEPUP_TREE_WIDTH: '2' })
  const draw = draws(FAULT_SEED)
  const began = performance.now()
  const until = began + MINUTES * 60_000
  const networks = await Promise.all(Array.from({ length: WORKERS }, () => pair.link()))
  const workers = await Promise.all(networks.map(({ env }) => work(AT_ONCE, env)))
  const over = new AbortController()
  const proxies = networks.flatMap((network) => network.proxies)
  const disturbing = disturb(proxies, draws(FAULT_SEED + 1), over.signal)

  const starting = (async () => {
    for (let part = 0; part < PARTS; part++) {
      await done('start', Math.floor((RUNS * (part + 1)) / PARTS) - Math.floor((RUNS * part) / PARTS))
      await done('grow', Math.floor((TREES * (part + 1)) / PARTS) - Math.floor((TREES * part) / PARTS))
      await wait(Math.max(0, began + ((part + 1) * MINUTES * 30_000) / PARTS - performance.now()))
    }
  })()

  const ending: Promise<number | null>[] = []
  const counts = { killed: 0, frozen: 0, crashed: 0 }
  const memory: number[][] = []
  const slowest: number[] = Array.from({ length: WORKERS }, () => 0)
  const look = async () => {
    const found = await Promise.all(workers.map(figuresOf))
    memory.push(found.map(({ rss }) => Math.round(rss / MIB)))
    for (const [n, { delayMs }] of found.entries()) slowest[n] = Math.max(slowest[n]!, delayMs)
    console.log(`${((performance.now() - began) / 60_000).toFixed(1)} min: MiB ${memory.at(-1)}, delay ms ${slowest}`)
  }
  const replace = async (at: number) => {
    workers[at] = await work(AT_ONCE, networks[at]!.env)
  }
  for (let lookAt = began + 60_000; performance.now() < until; ) {
    await wait(Math.min(4_000 + draw(8_000), Math.max(0, until - performance.now())))
    const at = draw(WORKERS)
    const victim = workers[at]!
    const kind = draw(4)
    if (kind === 0) {
      victim.kill('SIGKILL')
      counts.killed++
      await replace(at)
    } else if (kind === 1) {
      // Longer than its leases, so that others take over what it drives.
      victim.kill('SIGSTOP')
      counts.frozen++
      await wait(3_000 + draw(3_000))
      victim.kill('SIGCONT')
    } else if (kind === 2) {
      pair.postgres.stop(draw(2) === 0 ? 'immediate' : 'fast')
      counts.crashed++
      await wait(draw(2_000))
      pair.postgres.start()
    } else {
      ending.push(victim.drained())
      await replace(at)
    }
    if (performance.now() > lookAt) {
      lookAt = performance.now() + 60_000
      await look()
    }
  }
  await starting
  over.abort()
  const faults = await disturbing
  // Doubts may be decided only when no process still performs the call.
  for (const code of await Promise.all([...ending, ...workers.map((worker) => worker.drained())])) expect(code).toBe(0)
  for (let at = 0; at < WORKERS; at++) await replace(at)
  await done('settle', RUNS + TREES)
  await look()
  const { runs, events, wrong, epochs, ...tables } = await check()
  const peak = slowest.map((_, n) => Math.max(...memory.map((at) => at[n]!)))
  const minutes = ((performance.now() - began) / 60_000).toFixed(1)
  console.log(
    [
      `seed ${FAULT_SEED}: ${runs} runs ended in ${minutes} min, ${events} events, ${wrong.length} faults, ${epochs.twice.length} twice`,
      `${faults.length} faults of the network, workers ${counts.killed} killed, ${counts.frozen} frozen, PostgreSQL ${counts.crashed} times down`,
      `most claims of a run ${epochs.most}; peak memory of the workers ${peak} MiB; longest event-loop delay ${slowest} ms`,
    ].join('\n'),
  )
  expect({ runs, wrong, epochs, ...tables }).toMatchObject(allRight(RUNS + TREES))
})
