import type { ToolErrorCode } from '../../calls/error-codes.ts'
import type { ControlKind } from '../definition/tools.ts'
import type { Failure } from '../events/events.ts'

const violations: ReadonlySet<string> = new Set<ToolErrorCode>([
  'SINGLE_STEP_VIOLATION',
  'COMPLETION_NOT_ALONE',
  'PERMISSION_DENIED',
])

/** The rule by which calls are refused where an answer asked for more of them than are taken. */
export const TOO_MANY_CALLS = 'too_many_calls'

/** A breach of the rules that is fed back; five turns of them in a row end the run. */
export function isViolation(refusal: Failure): boolean {
  return violations.has(refusal.code) || refusal.rule === 'unknown_tool' || refusal.rule === TOO_MANY_CALLS
}

/** Turns with violations in a row that end a run. */
export const MAX_VIOLATIONS = 5

const notFailures: ReadonlySet<string> = new Set<ToolErrorCode>([
  'SINGLE_STEP_VIOLATION',
  'COMPLETION_NOT_ALONE',
  'PERMISSION_DENIED',
  'APPROVAL_REJECTED',
  'APPROVAL_EXPIRED',
  'DUPLICATE_FAILED_ACTION',
  'UNKNOWN_OUTCOME',
  'CANCELLED',
  'INTERRUPTED',
])

/**
 * Does this end make the same call a duplicate of a failed one? Denials and people's refusals never count,
 * and a call that completes the run or delegates may always be tried again: a new agent may do better.
 */
export function countsAsFailure(kind: ControlKind | false, code: string | null): boolean {
  return kind !== 'completes' && kind !== 'delegates' && code !== null && !notFailures.has(code)
}
