/** Codes of a tool call's failure (CONTRACTS 3). */
export const TOOL_ERROR_CODES = [
  'RESOURCE_NOT_FOUND',
  'INVALID_ARGUMENTS',
  'PERMISSION_DENIED',
  'APPROVAL_REJECTED',
  'APPROVAL_EXPIRED',
  'EXECUTION_FAILED',
  'TIMEOUT',
  'RATE_LIMITED',
  'SANDBOX_VIOLATION',
  'CONFLICT',
  'DUPLICATE_FAILED_ACTION',
  'RETRY_EXHAUSTED',
  'SINGLE_STEP_VIOLATION',
  'COMPLETION_NOT_ALONE',
  'GATE_FAILED',
  'BUDGET_EXCEEDED',
  'DEPTH_LIMIT',
  'AGENT_LIMIT',
  'SECRET_UNAVAILABLE',
  'UNKNOWN_OUTCOME',
  'CANCELLED',
  // Our own: the driver had to leave the call; it was neither cancelled nor did it fail by itself.
  'INTERRUPTED',
] as const
export type ToolErrorCode = (typeof TOOL_ERROR_CODES)[number]

/** Codes for decisions of the runtime or of a person: a tool cannot end with one of them. */
export const RESERVED_CODES: ReadonlySet<string> = new Set<ToolErrorCode>([
  'PERMISSION_DENIED',
  'APPROVAL_REJECTED',
  'APPROVAL_EXPIRED',
  'DUPLICATE_FAILED_ACTION',
  'RETRY_EXHAUSTED',
  'SINGLE_STEP_VIOLATION',
  'COMPLETION_NOT_ALONE',
  'GATE_FAILED',
  'BUDGET_EXCEEDED',
  'DEPTH_LIMIT',
  'AGENT_LIMIT',
  'UNKNOWN_OUTCOME',
  'CANCELLED',
  'INTERRUPTED',
])
