import { type AuthMethod, RequestError } from '@agentclientprotocol/sdk'
import type { Context } from '../context.ts'
import { checkKeys } from '../doctor/checks.ts'

/** keepup has no login: its models are used with the keys that the environment of its process has. */
const MODEL_KEY = {
  id: 'model-key',
  name: 'Model key from the environment',
  description:
    'Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or the base URL of a local server, in the environment of keepup',
} as const satisfies AuthMethod

export const AUTH_METHODS: readonly AuthMethod[] = [MODEL_KEY]

/** Scripted models need no key. */
const isScripted = (model: string | null | undefined): boolean => model?.startsWith('scripted:') === true

/** Throws `authRequired` with a remedy if the models cannot be used. */
export function authenticate(ctx: Context, methodId: string, model: string | undefined): void {
  if (methodId !== MODEL_KEY.id)
    throw RequestError.invalidParams(undefined, `there is no such method; use ${MODEL_KEY.id}`)
  if (isScripted(model ?? ctx.config.model)) return
  const { state, found, todo } = checkKeys(ctx.io.env)
  if (state !== 'ok')
    throw RequestError.authRequired(undefined, `model keys: ${found}; ${todo}, and start keepup again`)
}
