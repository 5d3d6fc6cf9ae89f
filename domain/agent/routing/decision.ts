import { z } from 'zod'

// The configuration of the ModelRouter (seed 000, 5.7). A run records the rules that it was started with.

/** The purpose of a model call. */
export const Purpose = z.enum(['turn', 'summary'])
export type Purpose = z.infer<typeof Purpose>

const count = z.int().nonnegative()
const name = z.string().min(1).max(300)
const names = z.array(name).min(1).max(100)

/** How a rule ranks the models that can serve: the lowest expected price, the lowest rolling median, the highest rank. */
export const RoutingPolicy = z.enum(['cost', 'latency', 'quality'])
export type RoutingPolicy = z.infer<typeof RoutingPolicy>

/**
 * The most that a tool of the coming request could do. `low`: it reads; `medium`: its effect can be repeated or looked up;
 * `high`: it has an irreversible effect. Control tools do not count.
 */
export const Risk = z.enum(['low', 'medium', 'high'])
export type Risk = z.infer<typeof Risk>

/** All members that are given must hold. `budgetBelow`: less than this share (0 to 1) of a budget of the run is left. */
export const RoutingMatch = z.strictObject({
  phases: names.optional(),
  roles: names.optional(),
  risks: z.array(Risk).min(1).optional(),
  purposes: z.array(Purpose).min(1).optional(),
  budgetBelow: z.number().gt(0).max(1).optional(),
})
export type RoutingMatch = z.infer<typeof RoutingMatch>

/** The abilities that a model must have, beside room for the request and tool calls where the request offers tools. */
export const ModelNeeds = z.strictObject({
  vision: z.literal(true).optional(),
  contextTokens: z.int().positive().optional(),
})
export type ModelNeeds = z.infer<typeof ModelNeeds>

/** `models` absent: every model of the configuration. */
export const RoutingRule = z.strictObject({
  name,
  when: RoutingMatch.optional(),
  policy: RoutingPolicy,
  models: names.optional(),
  needs: ModelNeeds.optional(),
})
export type RoutingRule = z.infer<typeof RoutingRule>

/** The models that a run may use, and the rules that choose among them: the first one that matches decides. */
export const RoutingConfig = z
  .strictObject({ models: names, rules: z.array(RoutingRule).min(1).max(100) })
  .superRefine(({ models, rules }, context) => {
    rules.forEach((rule, index) => {
      const refuse = (key: string, message: string) =>
        context.addIssue({ code: 'custom', path: ['rules', index, key], message })
      const foreign = rule.models?.find((id) => !models.includes(id))
      if (foreign !== undefined) refuse('models', `"${foreign}" is not among routing.models; add it there`)
      if (rules.findIndex((other) => other.name === rule.name) < index)
        refuse('name', `"${rule.name}" names another rule too; rename one`)
    })
  })
export type RoutingConfig = z.infer<typeof RoutingConfig>

/** Named limits of a model's health. Rates are shares of the calls in the last `windowMs`; times in ms. */
export const HealthThresholds = z.strictObject({
  windowMs: z.int().min(1_000).max(86_400_000).default(300_000),
  /** With fewer calls in the window a model counts as healthy. */
  minCalls: z.int().min(1).max(100).default(3),
  errorRate: z.number().gt(0).max(1).default(0.5),
  timeoutRate: z.number().gt(0).max(1).default(0.5),
  /** The rolling median from which a model is too slow; null: none is. */
  slowMs: z.int().positive().nullable().default(null),
  /** After this time without a call, one call tries whether the model serves again. */
  probeAfterMs: z.int().min(100).max(86_400_000).default(30_000),
})
export type HealthThresholds = z.infer<typeof HealthThresholds>

/**
 * The figures of a model at an instant, of one process. `errors` and `timeouts` are among `calls`; `medianMs` is of answers,
 * null where there was none. `breach` names the threshold that an unhealthy model has crossed.
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

/** A model that a rule allows, with what was known of it when the rule decided; `refused`: why it was not taken. */
export const RoutingCandidate = z.strictObject({
  model: name,
  refused: z.string().optional(),
  /** Null: the price is not known. */
  nanoDollars: count.nullable(),
  /** Absent: no call of it was seen. */
  figures: HealthFigures.optional(),
})
export type RoutingCandidate = z.infer<typeof RoutingCandidate>

/**
 * The facts that the rules were matched on. `budgetLeft`: the share that is left of the scarcer budget; null: the run
 * has none.
 */
export const RoutingBasis = z.strictObject({
  risk: Risk,
  budgetLeft: z.number().min(0).max(1).nullable(),
  inputTokens: count,
})
export type RoutingBasis = z.infer<typeof RoutingBasis>

/** Seed 000, 5.7, as it is stored. `policy`: how the models that could serve were ranked. */
export const RoutingDecision = z.strictObject({
  requested: z.string(),
  resolved: z.string(),
  reason: z.string(),
  policy: RoutingPolicy,
  purpose: Purpose,
  /** The rule that matched, what it was matched on, and the models that it allows with their figures. */
  rule: z.string().optional(),
  basis: RoutingBasis.optional(),
  candidates: z.array(RoutingCandidate).optional(),
})
