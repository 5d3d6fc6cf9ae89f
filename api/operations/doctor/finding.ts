import { LOG_META } from '../../../domain/log/ids.ts'
import { counted } from '../../../projections/engine/text.ts'

/** The result of one check. `todo`: the remedy; null if the state is `ok`. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'broken'
  readonly found: string
  readonly todo: string | null
}

const NAMED = 3

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found, todo: null })
export const bad = (state: 'warning' | 'broken', check: string, found: string, todo: string): Finding => ({
  check,
  state,
  found,
  todo,
})
export const message = (error: unknown): string =>
  error instanceof Error ? error.message.split('\n')[0]! : String(error)

/** The finding of a check that could not be made, in place of its own. */
export const unmade = (check: string, error: unknown): Finding =>
  bad('warning', check, message(error), 'do what the message says')

/** Reports children without a parent, after an accepted loss removed their births from the parents' streams. */
export function checkOrphans(orphans: number): Finding[] {
  if (orphans === 0) return []
  const found = `${counted(orphans, 'agent')} ${orphans === 1 ? 'is' : 'are'} driven by no process`
  return [bad('warning', 'orphans', found, '"verify" names them; start their tasks anew where they are still wanted')]
}

/** Reports unfinished restores of files. Empty if there are none. `runs`: the run ids. */
export function checkRestores(runs: readonly string[]): Finding[] {
  if (runs.length === 0) return []
  const more = runs.length > NAMED ? `, and ${runs.length - NAMED} more` : ''
  const found = `a restore has not ended in ${runs.slice(0, NAMED).join(', ')}${more}: files may be half put back`
  return [bad('warning', 'restores', found, 'if its process is gone, "runs show" says how to put the files back')]
}

const DAMAGED_META: Finding = bad(
  'warning',
  LOG_META,
  'an event of the stream log-meta is damaged or foreign; runs start and go on',
  '"verify" names the event; no loss of the log can be accepted before a backup of the event store without it is restored',
)

/** Reports streams that the tables could not read to the end. Empty if there are none. */
export function checkParked(parked: readonly string[]): Finding[] {
  if (parked.length === 0) return []
  const todo =
    '"runs list" names them, "stores" those of variables, "runs show" says why; when that is mended, "release --all" reads them again'
  const found = `${counted(parked.length, 'stream')} ${parked.length === 1 ? 'is' : 'are'} shown only in part`
  return [bad('warning', 'parked', found, todo), ...(parked.includes(LOG_META) ? [DAMAGED_META] : [])]
}
