import type { EndRestore, RequestRestore } from './commands.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// Restores of files (CONTRACTS 5). One is open at a time: its process holds the workspace until the end is recorded, so that
// an open one which another meets has lost its process.

/** The request, which is the intent. A finished run's files are put back as those of any other. */
export function requestRestore(d: DecisionBuilder, { kind: _, ...intent }: RequestRestore): void {
  const open = d.state.restoring
  if (open) d.emit('restore_ended', { restore: open.since, outcome: 'interrupted' })
  d.emit('restore_requested', intent)
}

/** The outcome of the open restore; one that is recorded, or was replaced, decides nothing. */
export function endRestore(d: DecisionBuilder, { kind: _, ...end }: EndRestore): void {
  if (d.state.restoring?.since === end.restore) d.emit('restore_ended', end)
}
