import type { Run } from '../http/schemas/runs.ts'

/**
 * How a run stands, for people: what it waits for, that it was cancelled, or that nobody drives it though it could go on.
 * `known`: who drives is known here.
 */
export function statusOf(run: Pick<Run, 'status' | 'waiting' | 'driving' | 'error' | 'turn'>, known = true): string {
  const { status, waiting } = run
  if (run.error?.code === 'CANCELLED') return 'cancelled'
  if (waiting !== null) return `${status}, waits: ${waiting.for}`
  if (status === 'completed' || status === 'failed') return status
  if (run.driving) return `${status}, at work`
  return known && run.turn > 0 ? 'interrupted' : status
}
