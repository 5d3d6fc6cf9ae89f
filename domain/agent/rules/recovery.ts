import type { Recovery } from '../state/state.ts'
import { type AgentState, recoveryOf } from '../state/state.ts'
import { workedAt } from '../state/work-clock.ts'

// RecoveryEngine (GracefulRecoveryEngine in seed 003): one warning, then completion or ERROR (seed 000, 5.2).

/** The latest turn that must be the warning turn. */
export const warningTurn = (state: AgentState): number =>
  Math.max(1, state.spec.limits.maxTurns - state.spec.recovery.graceTurns)

/** Why the next turn must be the warning turn, or null. The budget is checked separately, where calls are priced. */
export function limitReached(state: AgentState, now: number): 'turns' | 'wall_clock' | null {
  if (state.turn + 1 >= warningTurn(state)) return 'turns'
  return timeIsOver(state, now) ? 'wall_clock' : null
}

export function timeIsOver(state: AgentState, now: number): boolean {
  const { wallClockMs } = state.spec.limits
  return wallClockMs !== null && workedAt(state.clock, now) >= wallClockMs
}

/** The time that a model has to answer now, ms: at most the run's remaining time plus the grace time. */
export function modelTime(state: AgentState, timeoutMs: number, now: number): number {
  const { limits, recovery } = state.spec
  // In recovery the grace time ends the call.
  if (limits.wallClockMs === null || recoveryOf(state.machine) !== null) return timeoutMs
  return Math.min(timeoutMs, Math.max(0, limits.wallClockMs - workedAt(state.clock, now)) + recovery.graceTimeoutMs)
}

/** The last turn in which a malformed completion may be corrected. */
export function lastTurn(state: AgentState, recovery: Recovery): number {
  const { limits, recovery: config } = state.spec
  if (!config.hardLimit) return Number.POSITIVE_INFINITY
  return Math.max(recovery.warningTurn, Math.min(limits.maxTurns, recovery.warningTurn + config.graceTurns))
}

export function graceIsOver(state: AgentState, now: number): boolean {
  const recovery = recoveryOf(state.machine)
  return recovery !== null && workedAt(state.clock, now) >= recovery.deadlineAt
}

const REASONS = {
  turns: 'the turn limit is reached',
  wall_clock: 'the time limit is reached',
  budget: 'the budget is nearly spent',
} as const

/** Why the recovery began, as part of a sentence; null: no recovery. */
export function whyRecovering(state: AgentState): string | null {
  const recovery = recoveryOf(state.machine)
  return recovery && REASONS[recovery.reason]
}

/** The system message of the warning turn. Replaces `{reason}`, `{graceTurns}` and `{maxTurns}` in the template. */
export function warningText(state: AgentState, reason: Recovery['reason']): string {
  const { warningTemplate, graceTurns } = state.spec.recovery
  return warningTemplate
    .replaceAll('{reason}', REASONS[reason])
    .replaceAll('{graceTurns}', String(graceTurns))
    .replaceAll('{maxTurns}', String(state.spec.limits.maxTurns))
}
