import { cost } from '../../tree/money.ts'
import { modelInfo } from '../routing/routing.ts'
import { lostAttemptOf } from '../state/evolve-turns.ts'
import type { OutcomeCommand } from './commands.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// Outcomes that arrive after their call was abandoned or their run has ended.

export function decideLate(d: DecisionBuilder, fact: OutcomeCommand): void {
  if (fact.kind === 'model_answered') lateAnswer(d, fact)
  else lateOutcome(d, fact)
}

/** Records the outcome of an abandoned attempt once, without further consequences. */
export function lateOutcome(d: DecisionBuilder, fact: OutcomeCommand): void {
  if (fact.kind !== 'tool_succeeded' && fact.kind !== 'tool_failed') return
  const { toolCallId, attempt, durationMs, toolName } = fact
  if (!d.state.abandoned.some((one) => one.toolCallId === toolCallId && one.attempt === attempt)) return
  const outcome =
    fact.kind === 'tool_succeeded'
      ? { success: true, result: fact.result.content, ...(fact.attached && { attachment: fact.attached.attachment }) }
      : { success: false, error: { code: fact.error.code, message: fact.error.message } }
  d.emit('late_outcome', { toolName, attempt, durationMs, ...outcome }, { toolCallId })
}

/** Records the usage of an answer to an abandoned attempt, because the provider bills it. */
export function lateAnswer(d: DecisionBuilder, fact: Extract<OutcomeCommand, { kind: 'model_answered' }>): void {
  const { turn, attempt, outcome } = fact
  const lost = lostAttemptOf(d.state, turn, attempt)
  if (lost === undefined) return
  const { usage, servedBy, requestId } = outcome
  const { price } = modelInfo(d.state, lost.model)
  const nanoDollars = price === null ? null : cost(usage, price)
  const named = requestId === undefined ? {} : { requestId }
  d.emit(
    'model_late',
    { attempt, purpose: turn === 0 ? 'summary' : 'turn', usage, nanoDollars, servedBy, ...named },
    { turn, actor: { kind: 'model', id: lost.model }, cause: lost.since },
  )
}
