import Anthropic from '@anthropic-ai/sdk'
import type { ModelProvider } from '../../../domain/ports/index.ts'
import { type Access, exchange, NO_TIMEOUT_MS } from '../exchange.ts'
import { boundedFetch } from '../fetch.ts'
import { readAnswer } from '../read-answer.ts'
import { AnthropicAnswer } from './answer.ts'
import { anthropicParams } from './request.ts'

/** Access to Anthropic's API. `authToken`: a bearer token instead of a key (`ANTHROPIC_AUTH_TOKEN`). */
export interface AnthropicAccess extends Access {
  readonly authToken?: string
}

/**
 * Claude behind the ModelProvider port, with Anthropic's SDK. The SDK's retries are off, because retries are facts in
 * the log. Its logger is off, because it prints unparsable input. Always streams.
 */
export function anthropicProvider(access: AnthropicAccess): ModelProvider {
  const client = new Anthropic({
    apiKey: access.apiKey,
    authToken: access.authToken ?? null,
    webhookKey: null,
    ...(access.baseUrl === undefined ? {} : { baseURL: access.baseUrl }),
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
    fetch: boundedFetch('anthropic'),
  })
  const secrets = [access.apiKey, access.authToken].filter((s): s is string => typeof s === 'string')
  return {
    id: 'anthropic',
    call: (request, { signal, onText }) =>
      exchange('anthropic', signal, secrets, async (controller) => {
        const sent = client.beta.messages.create(anthropicParams(request), { signal: controller.signal })
        const response = await sent.asResponse()
        const answer = new AnthropicAnswer(onText)
        const cut = await readAnswer('anthropic', response, answer)
        return answer.outcome(request.model, response.headers.get('request-id'), cut)
      }),
  }
}
