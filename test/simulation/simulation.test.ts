import { expect, test } from 'vitest'
import { FAULT_SEED } from '../support/faults/seed.ts'
import { play } from './play.ts'
import { shrink, storyOf } from './shrink.ts'
import { simulate } from './simulate.ts'

// The whole runtime on one seeded scheduler: test/campaigns/simulation.test.ts plays more.

const STEPS = 12_000

test(`every rule holds in simulated histories (FAULT_SEED=${FAULT_SEED})`, async () => {
  const { failed, crashes, histories } = await simulate({ seed: FAULT_SEED, steps: STEPS })
  const story = failed && `seed ${failed.seed}\n${storyOf((await shrink(failed.played)).played)}`
  expect(story).toBeNull()
  expect(crashes).toBeGreaterThan(0)
  expect(histories).toBeGreaterThan(5)
})

test('the choices of a history give the same steps as its seed', async () => {
  const first = await play(FAULT_SEED)
  const again = await play(first.choices)
  expect(again.story).toEqual(first.story)
  expect(again.hash).toBe(first.hash)
})

test('without unusual choices a run is done without a fault', async () => {
  const { violation, crashes, story } = await play([])
  expect([violation, crashes]).toEqual([null, 0])
  expect(story.some((line) => line.includes('completion'))).toBe(true)
})
