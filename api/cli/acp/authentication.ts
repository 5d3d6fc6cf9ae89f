import { type AuthMethod, RequestError } from '@agentclientprotocol/sdk'
import { createModels } from '../../../adapters/models/registry.ts'
import { ModelError } from '../../../domain/calls/errors.ts'
import { DEFAULT_MODEL } from '../../process/host/start-services.ts'
import type { Context } from '../context.ts'

/** keepup has no login: its models are used with the keys that the environment of its process has. */
const MODEL_KEY = {
  id: 'model-key',
  name: 'Model key from the environment',
  description:
    'Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or the base URL of a local server, in the environment of keepup',
} as const satisfies AuthMethod

export const AUTH_METHODS: readonly AuthMethod[] = [MODEL_KEY]

/**
 * Checks that the model of the sessions' runs can be used. `model`: the one of the command line. Throws `authRequired` with a
 * remedy if its key is missing, and an internal error with the fault if the model cannot be used for another reason.
 */
export function authenticate({ io, config }: Context, methodId: string, model: string | undefined): void {
  if (methodId !== MODEL_KEY.id)
    throw RequestError.invalidParams(undefined, `there is no such method; use ${MODEL_KEY.id}`)
  const { models, data: dataFolder, routing } = config
  try {
    const registry = createModels({ env: io.env, models, dataFolder })
    registry.provider(model ?? routing?.models[0] ?? config.model ?? DEFAULT_MODEL)
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    if (error.code !== 'AUTHENTICATION') throw new RequestError(-32603, error.message)
    throw RequestError.authRequired(undefined, `${error.message}; then start keepup again`)
  }
}
