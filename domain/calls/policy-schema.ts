import { z } from 'zod'
import { Delay, Milliseconds } from '../log/time-span.ts'
import { Effect } from './tools/tool-spec.ts'

// The policy of an agent's calls, and when a failed call is retried.

/** Seed 000, 5.3. */
export type ExecutionPolicy = 'interactive' | 'batch'
/** Seed 000, 5.3. How the calls of a run are performed; patterns of tools are `tool`, `server:*` and `*`. */
export interface ToolExecutionContext {
  policy: ExecutionPolicy
  allowedTools: string[]
  requiresApproval: string[]
  maxParallel: number
}

/** Seed 000, 5.12. In configuration, patterns are sources of regular expressions. */
export interface SecurityPolicy {
  allowedTools: string[]
  deniedTools: string[]
  requiresApproval: string[]
  sandboxed: boolean
  secretPatterns: RegExp[]
}

/**
 * Calls that need the approval of `count` different people, in every mode. No standing approval and no permission covers
 * such a call. `effects`: only calls with one of these effects; absent: all.
 */
export const ApproverRule = z.strictObject({
  tools: z.array(z.string().min(1)).min(1),
  effects: z.array(Effect).min(1).optional(),
  count: z.int().min(2).max(9),
})
export type ApproverRule = z.infer<typeof ApproverRule>

/** Seed 000, 5.3 and 5.12 as one recorded policy. Allow patterns: `tool`, `server:*`, `*`; deny beats allow. */
export const Policy = z.strictObject({
  mode: z.enum(['interactive', 'batch']).default('interactive'),
  allowedTools: z.array(z.string().min(1)).default(['*']),
  deniedTools: z.array(z.string().min(1)).default([]),
  requiresApproval: z.array(z.string().min(1)).default([]),
  maxParallel: z.int().positive().max(64).default(4),
  approvalTtlMs: Milliseconds.default(86_400_000),
  sandboxed: z.boolean().default(true),
  secretPatterns: z.array(z.string().min(1)).default([]),
  /** Kinds of external agents that the run may delegate to; absent: none (CONTRACTS 13). */
  backends: z.array(z.string().min(1)).optional(),
  /** Of several rules about a call, the greatest count applies. */
  approvers: z.array(ApproverRule).optional(),
})
export type Policy = z.infer<typeof Policy>

/** The most characters of all secret patterns together. Compiling them takes about 2 ms per 1,000 characters. */
const PATTERN_CHARACTERS = 10_000

const SecretPatterns = z
  .array(z.string().min(1))
  .max(100)
  .refine((sources) => sources.reduce((sum, { length }) => sum + length, 0) <= PATTERN_CHARACTERS, {
    error: `expected at most ${PATTERN_CHARACTERS} characters together; shorten or leave out patterns`,
  })

/** A policy as people and programs send it. The schema of stored policies never changes, so the bounds are only here. */
export const RequestedPolicy = Policy.extend({ secretPatterns: SecretPatterns.default([]) })

/** Seed 000, 5.10. Delay: `backoffMs × backoffMultiplier^n`, at most `backoffCapMs`, plus recorded jitter. */
export const ErrorRecoveryPolicy = z.strictObject({
  maxRetries: z.int().nonnegative().max(20).default(2),
  backoffMs: Delay.default(1000),
  backoffMultiplier: z.number().min(1).max(1000).default(2),
  backoffCapMs: Delay.default(10_000),
  retryableErrors: z.array(z.string().min(1)).default(['NETWORK', 'TIMEOUT', 'RATE_LIMITED', 'OVERLOADED']),
  /**
   * How long a run waits for its models to recover, ms. 0 or absent: the run ends after its retries. New runs use
   * {@link MODEL_OUTAGE_MS} by default.
   */
  modelOutageMs: Delay.optional(),
})
export type ErrorRecoveryPolicy = z.infer<typeof ErrorRecoveryPolicy>

/** The default of `modelOutageMs`, ms. */
export const MODEL_OUTAGE_MS = 3_600_000
