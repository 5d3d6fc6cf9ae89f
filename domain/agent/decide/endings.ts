import { whyRecovering } from '../rules/recovery.ts'
import { openGates } from '../state/phases.ts'
import { type AgentState, recoveryOf, type TurnOutcome, turnIsOpen } from '../state/state.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// How turns, calls and runs end. Every `turn_start` has one `turn_end`, every call one `tool_call_end`.

export type EndCode =
  | 'NO_COMPLETION'
  | 'RECOVERY_FAILED'
  | 'TOO_MANY_VIOLATIONS'
  | 'BUDGET_EXCEEDED'
  | 'MODEL_FAILED'
  | 'MODEL_REFUSED'
  | 'CONTEXT_OVERFLOW'
  | 'CANCELLED'
  /** A decision failed: a bug, or figures beyond all bounds. */
  | 'INTERNAL_ERROR'

/** Ends the turn. A forced end does not wait for the version of its files. */
export function endTurn(d: DecisionBuilder, outcome: TurnOutcome): void {
  if (d.state.unversioned !== null) {
    const message = 'the run ended before its files had been versioned'
    d.emit('workspace_versioned', { step: d.state.unversioned.to, unversioned: { code: 'NOT_VERSIONED', message } })
  }
  d.emit('turn_end', { step: d.state.step + 1, outcome })
}

/** Codes that end a recovery without counting as its failure. */
const BEYOND_RECOVERY: ReadonlySet<EndCode> = new Set<EndCode>(['RECOVERY_FAILED', 'CANCELLED', 'MODEL_FAILED'])

/** The turn that the end of a run belongs to: the open or just ended turn; 0 for a run that waits for input. */
export const lastingTurn = (state: AgentState): number => (state.machine.status === 'IDLE' ? 0 : state.turn)

/** Ends the run in ERROR. An open recovery fails too. The last non-empty assistant text is kept as partial output. */
export function endRun(d: DecisionBuilder, cause: EndCode, why: string): void {
  if (turnIsOpen(d.state)) endTurn(d, cause === 'CANCELLED' ? 'cancelled' : 'failed')
  const turn = lastingTurn(d.state)
  const partial = d.state.lastText
  const recovering = recoveryOf(d.state.machine) !== null
  const failed = recovering && !BEYOND_RECOVERY.has(cause)
  const code = failed ? 'RECOVERY_FAILED' : cause
  const message = failed ? `Recovery failed: ${cause}: ${why}` : why
  const error = code === 'RECOVERY_FAILED' ? `${message}; it began because ${whyRecovering(d.state)}` : message
  if (recovering) d.emit('recovery', { phase: 'failed', reason: error }, { turn })
  const unmetGates = openGates(d.state).map((gate) => gate.check)
  const ending = {
    error,
    code,
    recoverable: false,
    ...(partial === '' ? {} : { partialOutput: partial }),
    ...(unmetGates.length === 0 ? {} : { unmetGates }),
  }
  d.emit('error', ending, { turn })
}
