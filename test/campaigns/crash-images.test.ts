import { afterEach, expect, test } from 'vitest'
import { checkImages } from '../support/crash-images/check.ts'
import { imagesOf } from '../support/crash-images/images.ts'
import { recordScenario, SCENARIOS } from '../support/crash-images/scenarios.ts'
import { newPlace } from '../support/faults/cli.ts'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'

// Every state that a loss of power can leave on the disk, while the program writes a part of a data folder or works in a
// whole one. The program opens each state: no acknowledged event is lost, and `verify` finds nothing.
// `EVERY=10` opens a tenth of the different images, chosen by FAULT_SEED; `TORN=8` tears the writes at each change in 8
// ways; `ANEW=50` opens one of 50 by new processes too; `AT_ONCE=2` opens two images at once. An image of a part opens in milliseconds, so parts are torn in more ways.

const EVERY = Number(process.env.EVERY ?? 1)
const TORN = process.env.TORN
const ANEW = Number(process.env.ANEW ?? 50)
const AT_ONCE = Number(process.env.AT_ONCE ?? 1)
let place: ReturnType<typeof newPlace>
afterEach(() => place.remove())

for (const scenario of SCENARIOS)
  test(scenario.name, { tags: ['strace', 'git'] }, async () => {
    place = newPlace()
    const began = performance.now()
    const recording = await recordScenario(place, scenario)
    const recorded = performance.now()
    const draw = draws(FAULT_SEED)
    const images = imagesOf(recording, draw, Number(TORN ?? (scenario.isDataFolder ? 4 : 20)))
    const checked = await checkImages(scenario, place.root, images, {
      draw,
      every: EVERY,
      anewEvery: ANEW,
      atOnce: AT_ONCE,
    })
    const { images: all, different, opened, anew, leaked } = checked
    const [recordS, openS] = [recorded - began, performance.now() - recorded].map((ms) => Math.round(ms / 1000))
    console.log(
      `${scenario.name}: ${recording.changes.length} changes, ${all} images, ${different} different, ${opened} opened, ` +
        `${anew} by new processes; recorded in ${recordS} s, opened in ${openS} s (FAULT_SEED=${FAULT_SEED})`,
    )
    expect(checked.found).toEqual([])
    expect(leaked).toBeLessThan(10)
  })
