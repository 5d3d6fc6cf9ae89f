import type { ModelRegistry } from '../../../adapters/models/registry.ts'
import { ModelError } from '../../../domain/calls/errors.ts'
import { isNear } from '../../operations/text/spelling.ts'

const PREFIXED = /^(?:anthropic|openai|scripted|own):/
const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/

/**
 * Refuses a model for a new run that neither the settings nor the catalogue contain. A misspelt name would be recorded
 * and fail in every turn. A name with a provider prefix is accepted, because it names the place of the model. Throws
 * ModelError NOT_FOUND with similar names.
 */
export function refuseUnknownModel(models: Pick<ModelRegistry, 'known'>, id: string): void {
  const known = models.known().map((model) => model.id)
  if (PREFIXED.test(id) || known.includes(id) || known.includes(id.replace(DATED, ''))) return
  const near = known.filter((name) => isNear(id.toLowerCase(), name.toLowerCase()) || name.startsWith(`${id}-`))
  const meant = near.length > 0 ? `; did you mean ${near.join(', ')}?` : `; known are ${known.join(', ')}.`
  throw new ModelError(
    'NOT_FOUND',
    `the model "${id}" is not known${meant} Describe it under "models" in the settings, or write anthropic:<name>, openai:<name> or scripted:<file>`,
  )
}
