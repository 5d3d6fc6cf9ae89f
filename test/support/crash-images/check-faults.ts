import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newPlace, type Place } from '../faults/cli.ts'
import { Checker } from './checkers.ts'
import { faultsOf, inject, type PlannedFault, runToEnd } from './injection.ts'
import { record } from './recording.ts'
import type { Scenario } from './scenario.ts'
import { scenarioOptions } from './scenarios.ts'

/** The result of all faults of a scenario. */
export interface CheckedFaults {
  readonly calls: number
  readonly planned: number
  readonly tried: number
  /** Faults for which the trace tells whether the program met them: all but short writes. */
  readonly traced: number
  /** Faults that the program met, and those after which it ended with a failure. */
  readonly met: number
  readonly failed: number
  /** Descriptions of what was lost or named. */
  readonly found: readonly string[]
}

/** Replaces the content of a folder by that of another one. */
function copy(from: string, to: string): void {
  for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
}

/**
 * Runs a scenario's program with each fault of its calls that `takes` selects. Opens what it left, and runs the same command
 * again, in the checker's place.
 */
export async function checkFaults(scenario: Scenario, takes: (fault: PlannedFault) => boolean): Promise<CheckedFaults> {
  const before = newPlace()
  const checker = new Checker()
  const { place } = checker
  try {
    await scenario.prepare(place)
    copy(place.root, before.root)
    const command = [process.execPath, ...scenario.command(place)]
    const options = scenarioOptions(place)
    const recording = await record(place.root, command, options)
    const planned = faultsOf(recording)
    const found: string[] = []
    const counts = { tried: 0, traced: 0, met: 0, failed: 0 }
    for (const fault of planned.filter(takes)) {
      if (found.length >= 10) break
      counts.tried++
      copy(before.root, place.root)
      const { said, code, isMet } = await inject(command, fault, options)
      if (isMet !== null) counts.traced++
      if (isMet) counts.met++
      if (code !== 0) counts.failed++
      const name = `${fault.point.call} ${fault.point.nth} of ${fault.point.path.slice(place.root.length)}, ${fault.fault}`
      const { lost, named } = await checker.check(scenario, said)
      found.push(...[...lost, ...named].map((why) => `${name}: ${why}`))
      const again = await runAgain(scenario, place)
      if (again !== null) found.push(`${name}: ${again}`)
    }
    return { calls: recording.calls.length, planned: planned.length, ...counts, found }
  } finally {
    await checker.close()
    before.remove()
  }
}

/** The failure of the next process. Null: it succeeds, or there is none. */
async function runAgain(scenario: Scenario, place: Place): Promise<string | null> {
  const again = scenario.again(place)
  if (again === null) return null
  const { code, stderr } = await runToEnd([process.execPath, ...again], scenarioOptions(place))
  return code === 0 ? null : `the next process ended with ${code}: ${stderr}`
}
