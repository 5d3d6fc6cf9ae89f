import type { Run } from '../../operations/runs/schemas.ts'

type Standing = Pick<Run, 'status' | 'waiting' | 'driving' | 'error' | 'interrupted' | 'unmetGates'>

/** A run's status for lists. Names incomplete rows, because nothing else in a list shows that they may be outdated. */
export const listedAs = (run: Standing & Pick<Run, 'incomplete' | 'shortened'>): string =>
  `${statusOf(run)}${run.incomplete ? ', read in part' : ''}${run.shortened ? ', shortened' : ''}`

/** A run's status for people: why it waits, that it was cancelled, or that it was interrupted and has no driver. */
export function statusOf(run: Standing): string {
  const { status, waiting } = run
  if (run.error?.code === 'CANCELLED') return 'cancelled'
  if (run.interrupted === true) return 'interrupted'
  if (waiting.length > 0) return `${status}, waits: ${[...new Set(waiting.map((one) => one.for))].join(', ')}`
  if (status === 'completed' && run.unmetGates.length > 0) return 'completed, unmet gates'
  return run.driving && status !== 'completed' && status !== 'failed' ? `${status}, at work` : status
}
