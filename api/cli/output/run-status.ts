import type { Run } from '../../operations/runs/schemas.ts'

type Standing = Pick<Run, 'status' | 'waiting' | 'driving' | 'error' | 'interrupted' | 'unmetGates'>

/** In a list, where nothing else tells that what is shown may be long past. */
export const listedAs = (run: Standing & Pick<Run, 'incomplete' | 'shortened'>): string =>
  `${statusOf(run)}${run.incomplete ? ', read in part' : ''}${run.shortened ? ', shortened' : ''}`

/** How a run stands, for people: what it waits for, that it was cancelled, or that it could go on and has no driver. */
export function statusOf(run: Standing): string {
  const { status, waiting } = run
  if (run.error?.code === 'CANCELLED') return 'cancelled'
  if (waiting.length > 0) return `${status}, waits: ${[...new Set(waiting.map((one) => one.for))].join(', ')}`
  if (run.interrupted === true) return 'interrupted'
  if (status === 'completed' && run.unmetGates.length > 0) return 'completed, unmet gates'
  return run.driving && status !== 'completed' && status !== 'failed' ? `${status}, at work` : status
}
