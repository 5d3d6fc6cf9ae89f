import { afterEach, expect, test, vi } from 'vitest'
import { checkImages } from '../support/crash-images/check.ts'
import { recordScenario, SCENARIOS } from '../support/crash-images/scenarios.ts'
import { newPlace } from '../support/faults/cli.ts'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'

// Every state that a loss of power can leave on the disk, while the program makes a folder, runs, erases, backs up,
// rotates a key and rebuilds. The program opens each state: no acknowledged event is lost, and `verify` finds nothing.
// `EVERY=10` checks a tenth of the different images, chosen by FAULT_SEED.

const EVERY = Number(process.env.EVERY ?? 1)
let place: ReturnType<typeof newPlace>
afterEach(() => {
  vi.unstubAllEnvs()
  place.remove()
})

for (const scenario of SCENARIOS)
  test(scenario.name, { tags: ['strace', 'git'] }, async () => {
    place = newPlace()
    const recording = await recordScenario(place, scenario)
    const checked = await checkImages(place.root, recording, {
      draw: draws(FAULT_SEED),
      every: EVERY,
      check: ({ said }) => scenario.check(place, said),
    })
    const { changes, images, opened } = checked
    console.log(`${scenario.name}: ${changes} changes, ${images} images, ${opened} opened (FAULT_SEED=${FAULT_SEED})`)
    expect(checked.faults).toEqual([])
  })
