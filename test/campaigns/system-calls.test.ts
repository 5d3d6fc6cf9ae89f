import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { callPointsOf, faultsOf, inject, runToEnd } from '../support/crash-images/injection.ts'
import { record } from '../support/crash-images/recording.ts'
import { prepareScenario, SCENARIOS, scenarioOptions } from '../support/crash-images/scenarios.ts'
import { newPlace } from '../support/faults/cli.ts'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'

// Each system call that changes a file or makes a change durable: the process is killed there, or the call fails. Then no
// acknowledged event is lost, `verify` finds nothing, and the same command ends well. `EVERY=10` tries a tenth of the
// calls, chosen by FAULT_SEED.

const EVERY = Number(process.env.EVERY ?? 1)
let place: ReturnType<typeof newPlace>
afterEach(() => {
  vi.unstubAllEnvs()
  place.remove()
})

for (const scenario of SCENARIOS)
  test(scenario.name, { tags: ['strace', 'git'] }, async () => {
    place = newPlace()
    const before = newPlace()
    try {
      await prepareScenario(place, scenario)
      const copy = (from: string, to: string) => {
        for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true })
        cpSync(from, to, { recursive: true })
      }
      copy(place.root, before.root)
      const command = [process.execPath, ...scenario.command(place)]
      const options = scenarioOptions(place)
      const points = callPointsOf(await record(place.root, command, options))
      const draw = draws(FAULT_SEED)
      const faults: string[] = []
      let [tried, met, failed] = [0, 0, 0]
      for (const point of points.filter(() => draw(EVERY) === 0))
        for (const fault of faultsOf(point)) {
          tried++
          copy(before.root, place.root)
          const name = `${point.call} ${point.nth} of ${point.path.slice(place.root.length)}, ${fault}`
          const { said, code, isMet } = await inject(command, point, fault, options)
          if (isMet) met++
          if (code !== 0) failed++
          for (const why of await scenario.check(place, said)) faults.push(`${name}: ${why}`)
          const again = scenario.again(place)
          const next = again && (await runToEnd([process.execPath, ...again], options))
          if (next !== null && next.code !== 0)
            faults.push(`${name}: the next process ended with ${next.code}: ${next.stderr}`)
          expect(faults.length, faults.join('\n')).toBeLessThan(10)
        }
      console.log(
        `${scenario.name}: ${points.length} calls, ${met} of ${tried} faults met, ${failed} ended the program (FAULT_SEED=${FAULT_SEED})`,
      )
      expect(faults).toEqual([])
      expect(met).toBeGreaterThanOrEqual(tried / 2)
    } finally {
      before.remove()
    }
  })
