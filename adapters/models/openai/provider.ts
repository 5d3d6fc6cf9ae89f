import OpenAI from 'openai'
import { ModelError } from '../../../domain/calls/errors.ts'
import type { ModelProvider } from '../../../domain/ports/index.ts'
import { type Access, exchange, NO_TIMEOUT_MS } from '../exchange.ts'
import { boundedFetch } from '../fetch.ts'
import { readAnswer } from '../read-answer.ts'
import { OpenAiAnswer } from './answer.ts'
import { isOfficial } from './official.ts'
import { openAiParams } from './request.ts'

/**
 * OpenAI, or any other server with its chat completions API, behind the ModelProvider port. Uses OpenAI's SDK with
 * retries and logger off. Sends no Authorization header without a key.
 */
export function openaiProvider(access: Access): ModelProvider {
  const client = new OpenAI({
    // The SDK requires a key. The next line removes the header with this placeholder.
    apiKey: access.apiKey ?? 'none',
    ...(access.apiKey === null ? { defaultHeaders: { Authorization: null } } : {}),
    adminAPIKey: null,
    webhookSecret: null,
    baseURL: access.baseUrl ?? OPENAI_URL,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
    fetch: boundedFetch('openai'),
  })
  const official = isOfficial(client.baseURL)
  const secrets = access.apiKey === null ? [] : [access.apiKey]
  return {
    id: 'openai',
    call: (request, { signal, onText }) =>
      exchange('openai', signal, secrets, async (controller) => {
        const params = openAiParams(request, official)
        const sent = client.chat.completions.create(params, { signal: controller.signal })
        const response = await sent.asResponse()
        const answer = new OpenAiAnswer(onText)
        const cut = await readAnswer('openai', response, answer)
        const requestId = response.headers.get('x-request-id')
        return answer.outcome(request.model, requestId, () => JSON.stringify(params), cut)
      }).catch((error) => {
        throw new URL(client.baseURL).pathname === '/' ? withHint(error) : error
      }),
  }
}

/** Adds a hint to NOT_FOUND: a server answers 404 to every request if the base URL lacks its path. */
const withHint = (error: unknown): unknown =>
  error instanceof ModelError && error.code === 'NOT_FOUND'
    ? new ModelError('NOT_FOUND', `${error.message}; OPENAI_BASE_URL usually ends in /v1`)
    : error

const OPENAI_URL = 'https://api.openai.com/v1'
