import type { EndRestore, RequestRestore } from './commands.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// Restores of files (CONTRACTS 5). Only one restore is open at a time: its process locks the workspace until the end is
// recorded. If another restore finds an open one, the process of that one has died.

/** Records the request as the intent. Finished runs may be restored too. */
export function requestRestore(d: DecisionBuilder, { kind: _, ...intent }: RequestRestore): void {
  const open = d.state.restoring
  if (open) d.emit('restore_ended', { restore: open.since, outcome: 'interrupted' })
  d.emit('restore_requested', intent)
}

/**
 * Records the end of the open restore. An end that was recorded before, or whose restore was replaced, changes nothing.
 */
export function endRestore(d: DecisionBuilder, { kind: _, ...end }: EndRestore): void {
  if (d.state.restoring?.since === end.restore) d.emit('restore_ended', end)
}
