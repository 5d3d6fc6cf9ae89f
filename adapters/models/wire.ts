import type { Json } from '../../domain/log/json.ts'
import type { ModelRequest } from '../../domain/ports/index.ts'
import { anthropicParams } from './anthropic/request.ts'
import type { ProviderId } from './catalog.ts'
import { openAiParams } from './openai/request.ts'

/** A request in its provider's form: the JSON body, and the headers that its options set. */
export interface WireRequest {
  readonly provider: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/**
 * The provider's form of a request, from the same code that sends requests. Sends nothing. `official`: for OpenAI's own
 * servers. The body for a script, and for a provider of the
 * embedding program, is the request itself.
 */
export function wireRequest(provider: ProviderId, request: ModelRequest, official: boolean): WireRequest {
  const plain = (body: unknown) => JSON.parse(JSON.stringify(body)) as Json
  if (provider === 'openai') return { provider, headers: {}, body: plain(openAiParams(request, official)) }
  if (provider === 'scripted' || provider === 'own') return { provider, headers: {}, body: plain(request) }
  // The SDK sends `betas` as a header.
  const { betas, ...body } = anthropicParams(request)
  const headers: WireRequest['headers'] = betas ? { 'anthropic-beta': betas.join(',') } : {}
  return { provider, headers, body: plain(body) }
}
