// @module-tag postgresql
import { afterAll, beforeAll, expect, test } from 'vitest'
import { draws, FAULT_ALL, FAULT_SEED } from '../support/faults/seed.ts'
import { type Actor, allRight, deployment } from '../support/servers/actors.ts'
import { openPair, type Pair } from '../support/servers/pair.ts'

// Trees of agents over three workers that are killed and stopped at random. FAULT_ALL=1: two trees of 40 agents.

const WORKERS = 3
const [WIDTH, TREES] = FAULT_ALL ? [3, 2] : [2, 1]
/** A fault comes after so many effects. */
const EVERY = FAULT_ALL ? 6 : 2

const performed = ({ lines }: Actor) => lines.some((line) => line.startsWith('effect '))

let pair: Pair
beforeAll(async () => {
  pair = await openPair()
})
afterAll(() => pair?.stop())

test(`trees over ${WORKERS} workers, killed and stopped, end as they do without (FAULT_SEED=${FAULT_SEED})`, async () => {
  const { work, done, check, effectsLeft } = deployment({ ...pair.fresh(), KEEPUP_TREE_WIDTH: String(WIDTH) })
  const draw = draws(FAULT_SEED)
  await done('grow', TREES)
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => work(8)))
  const all = [...workers]
  const stopped: Actor[] = []
  const ending: Promise<number | null>[] = []
  const letGo = () => {
    for (const one of stopped.splice(0)) {
      one.kill('SIGCONT')
      ending.push(one.drained())
    }
  }
  for (let step = 1; step * EVERY < TREES * WIDTH ** 3; step++) {
    await effectsLeft(step * EVERY)
    // A fault proves more at a worker that drives agents than at an idle one.
    const busy = workers.filter(performed)
    const among = busy.length > 0 ? busy : workers
    const victim = among[draw(among.length)]!
    const at = workers.indexOf(victim)
    if (step % 2 === 1) victim.kill('SIGKILL')
    else {
      letGo()
      victim.kill('SIGSTOP')
      stopped.push(victim)
    }
    workers[at] = await work(8)
    all.push(workers[at])
  }
  letGo()
  // Doubts may be decided only when no process still performs the call.
  for (const code of await Promise.all(ending)) expect(code).toBe(0)
  await done('settle', TREES)
  expect(await check()).toMatchObject(allRight(TREES))
  expect(all.filter(performed).length).toBeGreaterThan(1)
})
