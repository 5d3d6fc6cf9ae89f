// @module-tag postgresql
import { afterAll, beforeAll, expect, test } from 'vitest'
import { draws, FAULT_ALL, FAULT_SEED } from '../support/faults/seed.ts'
import { type Actor, allRight, deployment } from '../support/servers/actors.ts'
import { openPair, type Pair } from '../support/servers/pair.ts'

// FAULT_ALL=1: faults at 22 points of 300 runs. Otherwise at 8 points of 110 runs, with each kind of fault at least twice and
// each kind of restart of PostgreSQL once.

const WORKERS = 3
/** A fault comes after so many effects, and the faults end when so many were left. */
const EVERY = 20
const [RUNS, LAST] = FAULT_ALL ? [300, 440] : [110, 160]

let pair: Pair
beforeAll(async () => {
  pair = await openPair()
})
afterAll(() => pair?.stop())

test(`${RUNS} runs over ${WORKERS} workers while everything fails (FAULT_SEED=${FAULT_SEED})`, async () => {
  const { work, done, check, effectsLeft } = deployment(pair.fresh())
  const draw = draws(FAULT_SEED)
  // All at once, so that something is at work whenever a fault comes.
  await done('start', RUNS)
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => work(8)))
  const stopped: Actor[] = []
  const ending: Promise<number | null>[] = []
  const letGo = () => {
    for (const one of stopped.splice(0)) {
      one.kill('SIGCONT')
      ending.push(one.drained())
    }
  }
  for (let step = 1; step * EVERY <= LAST; step++) {
    await effectsLeft(step * EVERY)
    const at = draw(workers.length)
    const victim = workers[at]!
    const kind = step % 3
    if (kind === 0) {
      victim.kill('SIGKILL')
      workers[at] = await work(8)
    } else if (kind === 1 && stopped.length === 0) {
      victim.kill('SIGSTOP')
      stopped.push(victim)
      workers[at] = await work(8)
    } else letGo()
    if (step % 4 === 0) {
      pair.postgres.stop(step % 8 === 0 ? 'immediate' : 'fast')
      pair.postgres.start()
    }
    if (step % 2 === 0) await pair.cut()
  }
  letGo()
  // Doubts may be decided only when no process still performs the call.
  for (const code of await Promise.all(ending)) expect(code).toBe(0)
  await done('settle', RUNS)
  const checked = await check()
  expect(checked).toMatchObject(allRight(RUNS))
  expect(checked.epochs.most).toBeGreaterThan(1)
  for (const worker of workers) worker.kill('SIGTERM')
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual(workers.map(() => 0))
})
