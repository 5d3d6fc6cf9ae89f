import { z } from 'zod'

// The configuration of the ModelRouter (seed 000, 5.7). A run records the rules that it was started with.

export const Purpose = z.enum(['turn', 'summary'])
export type Purpose = z.infer<typeof Purpose>

const name = z.string().min(1).max(300)
const names = z.array(name).min(1).max(100)

/** How a rule ranks the available models: by lowest expected price, lowest rolling median, or highest rank. */
export const RoutingPolicy = z.enum(['cost', 'latency', 'quality'])
export type RoutingPolicy = z.infer<typeof RoutingPolicy>

/**
 * The highest effect of the offered tools. `low`: only reads. `medium`: repeatable or verifiable effects. `high`:
 * irreversible effects. Control tools do not count.
 */
export const Risk = z.enum(['low', 'medium', 'high'])
export type Risk = z.infer<typeof Risk>

/** All present members must match. `budgetBelow`: the remaining share of a budget is below this (0 to 1). */
export const RoutingMatch = z.strictObject({
  phases: names.optional(),
  roles: names.optional(),
  risks: z.array(Risk).min(1).optional(),
  purposes: z.array(Purpose).min(1).optional(),
  budgetBelow: z.number().gt(0).max(1).optional(),
})
export type RoutingMatch = z.infer<typeof RoutingMatch>

/** Required abilities of a model, besides room for the request and, if the request offers tools, tool calls. */
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

/** The models that a run may use, and the rules that choose among them. The first matching rule decides. */
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
