import { MOST_MODELS, type ReportedUsage, type SessionUsage } from '../../../domain/external/usage.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { object } from './json-fields.ts'

/**
 * The usage by model of an object that has the figures of each model under its name. Without a model, or with too many,
 * the report has no such part.
 */
export function usageByModel(
  told: unknown,
  scope: ReportedUsage['scope'],
  figures: (model: JsonObject) => SessionUsage,
): Pick<ReportedUsage, 'models'> {
  const each = Object.entries(object(told)).map(([model, value]) => ({ model, ...figures(object(value)) }))
  const isUsable = each.length > 0 && each.length <= MOST_MODELS && each.every(({ model }) => model !== '')
  return isUsable ? { models: { scope, each } } : {}
}
