import { ModelError } from '../../../domain/calls/errors.ts'
import type { ModelProvider } from '../../../domain/ports/index.ts'
import { exchange } from '../exchange.ts'
import { readAnswer } from '../read-answer.ts'
import { OpenAiAnswer } from './answer.ts'
import { isOfficial } from './official.ts'
import { openAiParams } from './request.ts'
import { type OpenAiAccess, send } from './send.ts'

/** OpenAI, or any other server with its chat completions API, behind the ModelProvider port. Asks once, without retries. */
export function openaiProvider(access: OpenAiAccess): ModelProvider {
  const baseUrl = access.baseUrl ?? OPENAI_URL
  const official = isOfficial(baseUrl)
  const secrets = access.apiKey === null ? [] : [access.apiKey]
  return {
    id: 'openai',
    call: (request, { signal, onText }) =>
      exchange('openai', signal, secrets, async (controller) => {
        const params = openAiParams(request, official)
        const response = await send(access, baseUrl, '/chat/completions', params, controller.signal)
        const answer = new OpenAiAnswer(onText)
        const cut = await readAnswer('openai', response, answer)
        const requestId = response.headers.get('x-request-id')
        return answer.outcome(request.model, requestId, () => JSON.stringify(params), cut)
      }).catch((error) => {
        throw new URL(baseUrl).pathname === '/' ? withHint(error) : error
      }),
  }
}

/** Adds a hint to NOT_FOUND: a server answers 404 to every request if the base URL lacks its path. */
const withHint = (error: unknown): unknown =>
  error instanceof ModelError && error.code === 'NOT_FOUND'
    ? new ModelError('NOT_FOUND', `${error.message}; OPENAI_BASE_URL usually ends in /v1`)
    : error

const OPENAI_URL = 'https://api.openai.com/v1'
