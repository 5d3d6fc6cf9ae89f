import { CommandRejected } from '../../calls/errors.ts'
import { hex } from '../../log/ids.ts'
import type { Budget } from '../../tree/spec.ts'
import type { BodyOf } from '../events/events.ts'
import { checkBudget } from '../rules/admission.ts'
import { continues } from '../state/evolve-fork.ts'
import type { AgentState } from '../state/state.ts'
import { type AgentDraft, DecisionBuilder } from './decision-builder.ts'
import type { DecisionContext } from './decision-context.ts'

/**
 * The first event of a fork. `state`: the source's state at the fork point. `runId`: of the new run. Throws
 * CommandRejected MODEL_UNKNOWN or SPEC_REFUSED.
 */
export function decideFork(
  state: AgentState,
  runId: string,
  body: BodyOf<'forked'>,
  context: DecisionContext,
): AgentDraft {
  const { model } = body.changes
  if (model !== undefined && !state.spec.models.known.some((known) => known.id === model)) {
    throw new CommandRejected('MODEL_UNKNOWN', `"${model}" is not among the run's models`)
  }
  checkBudget({ ...state.spec, budget: { ...state.spec.budget, ...body.changes.budget } as Budget })
  const d = new DecisionBuilder(state, { agentId: runId, runId, revision: -1 }, context)
  const waits = !continues(state) && state.unread === 0
  d.emit('forked', { ...body, hashSalt: hex(context.salt()), ...(waits ? { waits } : {}) }, { turn: 0 })
  return d.drafts[0]!
}
