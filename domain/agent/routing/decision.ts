import { z } from 'zod'
import { Purpose, Risk, RoutingPolicy } from '../../tree/routing-config.ts'

// Decisions of the ModelRouter (seed 000, 5.7), and the health of models that they use.

const count = z.int().nonnegative()
const name = z.string().min(1).max(300)

/** Thresholds of a model's health. Rates are shares of the calls in the last `windowMs`; times in ms. */
export const HealthThresholds = z.strictObject({
  windowMs: z.int().min(1_000).max(86_400_000).default(300_000),
  /** With fewer calls in the window, a model counts as healthy. */
  minCalls: z.int().min(1).max(100).default(3),
  errorRate: z.number().gt(0).max(1).default(0.5),
  timeoutRate: z.number().gt(0).max(1).default(0.5),
  /** The rolling median from which a model counts as too slow; null: no limit. */
  slowMs: z.int().positive().nullable().default(null),
  /** The time without a call after which one probe call checks whether the model serves again. */
  probeAfterMs: z.int().min(100).max(86_400_000).default(30_000),
})
export type HealthThresholds = z.infer<typeof HealthThresholds>

/**
 * The figures of a model at an instant, measured by one process. `calls` includes `errors` and `timeouts`. `medianMs`:
 * of answers; null: no answer. `breach`: the threshold that an unhealthy model crossed.
 */
export const HealthFigures = z.strictObject({
  calls: count,
  errors: count,
  timeouts: count,
  medianMs: count.nullable(),
  health: z.enum(['healthy', 'unhealthy', 'half_open']),
  breach: z.enum(['errorRate', 'timeoutRate', 'slowMs']).optional(),
})
export type HealthFigures = z.infer<typeof HealthFigures>

/** A model that a rule allows, with its figures at the decision. `refused`: why it was not chosen. */
export const RoutingCandidate = z.strictObject({
  model: name,
  refused: z.string().optional(),
  /** Null: the price is not known. */
  nanoDollars: count.nullable(),
  /** Absent: no call of the model was observed. */
  figures: HealthFigures.optional(),
})
export type RoutingCandidate = z.infer<typeof RoutingCandidate>

/** The facts that rules match. `budgetLeft`: the remaining share of the scarcer budget; null: the run has none. */
export const RoutingBasis = z.strictObject({
  risk: Risk,
  budgetLeft: z.number().min(0).max(1).nullable(),
  inputTokens: count,
})
export type RoutingBasis = z.infer<typeof RoutingBasis>

/** The stored decision (seed 000, 5.7). `policy`: how the available models were ranked. */
export const RoutingDecision = z.strictObject({
  requested: z.string(),
  resolved: z.string(),
  reason: z.string(),
  policy: RoutingPolicy,
  purpose: Purpose,
  /** The matching rule, the facts it matched, and the models that it allows with their figures. */
  rule: z.string().optional(),
  basis: RoutingBasis.optional(),
  candidates: z.array(RoutingCandidate).optional(),
})
