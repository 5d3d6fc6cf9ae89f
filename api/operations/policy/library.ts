import type { Policy, SecurityPolicy, ToolExecutionContext } from '../../../domain/calls/policy-schema.ts'
import { matches } from '../../../domain/calls/tools/tool-patterns.ts'
import { Problem } from '../problem.ts'

/** Tools that both lists allow. Patterns only: `*`, `server:*`, or a name. */
function both(a: readonly string[], b: readonly string[]): string[] {
  const within = (some: readonly string[], of: readonly string[]) =>
    some.filter((pattern) => of.some((other) => matches(other, pattern)))
  return [...new Set([...within(a, b), ...within(b, a)])]
}

function sourceOf({ source, flags }: RegExp): string {
  // `g` concerns the use of a pattern, and `u` is implied for all patterns.
  const other = flags.replaceAll(/[gu]/g, '')
  if (other === '') return source
  throw new Problem(
    'PATTERN_REFUSED',
    `secretPatterns: /${source}/${flags}: flag "${other}" is not recorded; write it into the pattern`,
  )
}

/**
 * Merges the two interfaces of seed 000 (5.3, 5.12) into the one recorded policy. A tool is allowed if both allow it,
 * and needs approval if one of them requires it. Throws a Problem for a pattern whose flags would be lost.
 */
export function policyOf(
  execution: Partial<ToolExecutionContext> = {},
  security: Partial<SecurityPolicy> = {},
): Partial<Policy> {
  const asks = [...(execution.requiresApproval ?? []), ...(security.requiresApproval ?? [])]
  return {
    ...(execution.policy && { mode: execution.policy }),
    ...(execution.maxParallel !== undefined && { maxParallel: execution.maxParallel }),
    ...((execution.allowedTools ?? security.allowedTools) && {
      allowedTools: both(execution.allowedTools ?? ['*'], security.allowedTools ?? ['*']),
    }),
    ...(security.deniedTools && { deniedTools: security.deniedTools }),
    ...(asks.length > 0 && { requiresApproval: [...new Set(asks)] }),
    ...(security.sandboxed !== undefined && { sandboxed: security.sandboxed }),
    ...(security.secretPatterns && { secretPatterns: security.secretPatterns.map(sourceOf) }),
  }
}
