import { counted } from '../../../projections/engine/text.ts'
import type { Services } from '../services.ts'
import { bad, checkOrphans, checkParked, checkRestores, type Finding, ok } from './finding.ts'

/** Tables that are further behind are reported. A busy process is some events behind at any time. */
const MOST_BEHIND = 1_000

/** How far the tables are behind the log, parked streams, agents without a driver, and unfinished restores. */
export async function checkTables({ read }: Services): Promise<Finding[]> {
  const { behind } = await read.status()
  const isWhole = await read.current()
  const { parked, orphans, restoring } = await read.status()
  const found = behind === 0 ? 'up to the log' : `${counted(behind, 'event')} behind the log`
  const lag =
    behind < MOST_BEHIND && isWhole
      ? ok('tables', found)
      : bad('warning', 'tables', found, isWhole ? 'wait, and look again' : 'make room on the disk of the tables')
  return [
    lag,
    ...checkParked(parked.map(({ stream }) => stream)),
    ...checkOrphans(orphans.length),
    ...checkRestores(restoring.map(({ runId }) => runId)),
  ]
}
