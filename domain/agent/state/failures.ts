import type { ToolErrorCode } from '../../calls/error-codes.ts'
import type { Failure } from '../../calls/events/event-parts.ts'
import type { ControlKind } from '../../calls/tools/tool-spec.ts'

const violations: ReadonlySet<string> = new Set<ToolErrorCode>([
  'SINGLE_STEP_VIOLATION',
  'COMPLETION_NOT_ALONE',
  'PERMISSION_DENIED',
])

/** The rule that refuses the calls of an answer with too many calls. */
export const TOO_MANY_CALLS = 'too_many_calls'

/** Whether the refusal is a violation. {@link MAX_VIOLATIONS} turns with violations in a row end the run. */
export function isViolation(refusal: Failure): boolean {
  return violations.has(refusal.code) || refusal.rule === 'unknown_tool' || refusal.rule === TOO_MANY_CALLS
}

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
 * Whether this end makes an identical call a duplicate of a failed one. Denials and people's refusals never count. A
 * call that completes the run or delegates may always be repeated, because a new agent may succeed.
 */
export function countsAsFailure(kind: ControlKind | false, code: string | null): boolean {
  return kind !== 'completes' && kind !== 'delegates' && code !== null && !notFailures.has(code)
}
