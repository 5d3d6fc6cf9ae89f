import { retentionView } from '../keeping/holds.ts'
import type { Services } from '../services.ts'
import { bad, type Finding, ok } from './finding.ts'

/** The retention, and whether the log can obey it. Empty if none is set. */
export async function checkRetention({ keeping, log }: Services): Promise<Finding[]> {
  const set = retentionView(await keeping.state()).filter(({ days }) => days !== null)
  if (set.length === 0) return []
  const found = set.map(({ of, days }) => `${of}: ${days} days`).join(', ')
  if (log.erases) return [ok('retention', found)]
  const todo = 'erase in the event store itself, or unset it: "keepup retention set <subject> never"'
  return [bad('warning', 'retention', `${found}; but an event store on servers cannot empty bodies`, todo)]
}
