import type { Place } from '../faults/cli.ts'
import { backup, erasure, firstRun, rebuild, rotation, runWithFiles, upgrade } from './data-folders.ts'
import { appends, blobs, checkpoints, mark, plans, snapshots } from './parts.ts'
import { type Recording, record } from './recording.ts'
import { homeOf, type Scenario } from './scenario.ts'

export const SCENARIOS: readonly Scenario[] = [
  ...[appends, checkpoints, mark, snapshots, plans, blobs],
  ...[firstRun, runWithFiles, erasure, backup, rotation, rebuild, upgrade],
]

/**
 * The environment of a scenario's program. The program waits only briefly for room on a full disk. A pool of one thread makes
 * the same calls in each run.
 */
export const scenarioOptions = (place: Place) => ({
  env: homeOf(place, { KEEPUP_FULL_PATIENCE_MS: '300', UV_THREADPOOL_SIZE: '1' }),
  cwd: place.root,
})

/** Prepares a place and records a scenario's program in it. */
export async function recordScenario(place: Place, scenario: Scenario): Promise<Recording> {
  await scenario.prepare(place)
  const recording = await record(place.root, [process.execPath, ...scenario.command(place)], scenarioOptions(place))
  if (recording.code !== 0) throw new Error(`${scenario.name} ended with ${recording.code}:\n${recording.stderr}`)
  return recording
}
