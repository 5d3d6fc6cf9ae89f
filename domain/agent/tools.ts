import { z } from 'zod'

/**
 * How safe a second run is (CONTRACTS 3). `pure` and `idempotent` run again under the same call id; `reconcilable` has
 * a probe; `irreversible` is never run twice without a person.
 */
export const Effect = z.enum(['pure', 'idempotent', 'reconcilable', 'irreversible'])
export type Effect = z.infer<typeof Effect>

/**
 * A tool as the log records it: everything that decisions need, as data. `parameters` is a JSON Schema (2020-12).
 * `paths` names arguments that are workspace paths and what the call does there; `barrier`: conflicts with every call.
 * `control` tools are offered in every phase, touch nothing outside the log and are not sensitive. `timeLimitMs` bounds one
 * attempt.
 */
export const ToolSpec = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]*(:[a-zA-Z0-9_.-]+)?$/),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  effect: Effect,
  paths: z.record(z.string(), z.enum(['read', 'list', 'write'])),
  barrier: z.boolean(),
  control: z.boolean(),
  timeLimitMs: z.int().positive(),
})
export type ToolSpec = z.infer<typeof ToolSpec>

/** The name that the model sees: `server:tool` becomes `server__tool`. */
export const wireName = (name: string): string => name.replace(':', '__')

/** Stands for the name of a tool that there is none of: what the model wrote lies in its answer's block alone. */
export const UNKNOWN_TOOL = 'unknown'

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
] as const
export type ToolErrorCode = (typeof TOOL_ERROR_CODES)[number]
