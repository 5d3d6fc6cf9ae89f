import type { ReportedEnd } from '../../tree/events.ts'
import { addReport, isEmptyReport } from '../../tree/family.ts'
import { totals } from '../state/budget-account.ts'
import { isFinished } from '../state/state.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { lastingTurn } from './endings.ts'

/** Reports the end of a child in the append that ends it; later appends report each change of its total usage. */
export function report(d: DecisionBuilder): void {
  if (d.drafts.length === 0) return
  const { state } = d
  if (state.parent === null || state.spec.delegation === undefined || !isFinished(state)) return
  const all = totals(state)
  const about = { turn: lastingTurn(state) }
  if (state.family.reported === null) return d.emit('end_reported', { ...reportedEnd(d), report: all }, about)
  const delta = addReport(all, state.family.reported, -1)
  if (!isEmptyReport(delta)) d.emit('usage_reported', { report: delta }, about)
}

/** The end, from the event of this decision that ended the run. */
function reportedEnd({ drafts }: DecisionBuilder): Omit<ReportedEnd, 'report'> {
  for (const { event } of drafts) {
    if (event.type === 'completion') {
      const { summary, artifacts, nextSteps, unmetGates } = event.body
      const next = nextSteps === undefined ? {} : { nextSteps }
      return { status: 'completed', message: summary, ...next, artifacts, unmetGates }
    }
    if (event.type === 'error' && !event.body.recoverable) {
      const { code, error, partialOutput, unmetGates = [] } = event.body
      const partial = partialOutput === undefined ? {} : { partialOutput }
      return { status: 'failed', code, message: error, ...partial, artifacts: [], unmetGates }
    }
  }
  return {
    status: 'failed',
    code: 'INTERNAL_ERROR',
    message: 'its end was not recorded',
    artifacts: [],
    unmetGates: [],
  }
}
