import { counted } from '../../../projections/engine/text.ts'
import type { KnownModel } from '../models/known-models.ts'
import { asProblem } from '../problem.ts'
import type { Services } from '../services.ts'
import { bad, type Finding, ok } from './finding.ts'

const BREACHES = { errorRate: 'too many errors', timeoutRate: 'too many time limits', slowMs: 'too slow' } as const

const TODO = 'see that its provider answers, and the limits of "modelHealth"; routing takes other models meanwhile'

/** The health of each model that this process has called. Calls no model. */
export async function checkModels(s: Services): Promise<Finding[]> {
  return known(s).flatMap(({ id, figures }) => {
    if (figures === null) return []
    const { calls, errors, timeouts, medianMs, health, breach } = figures
    const failed = `${counted(errors, 'error')}, ${counted(timeouts, 'time limit')}`
    const found = `${id}: ${failed} in the last ${counted(calls, 'call')}, ${medianMs ?? 'no'} ms at the middle`
    if (health === 'healthy') return [ok('model', found)]
    return [bad('warning', 'model', breach === undefined ? found : `${found}; ${BREACHES[breach]}`, TODO)]
  })
}

/** Empty: the program brought its own models. */
function known(s: Services): readonly KnownModel[] {
  try {
    return s.models().models
  } catch (error) {
    if (asProblem(error)?.code === 'WIRE_UNKNOWN') return []
    throw error
  }
}
