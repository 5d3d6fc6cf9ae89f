import type { Json } from '../../domain/log/json.ts'
import type { ModelRequest } from '../../domain/ports.ts'
import { toParams as anthropicParams } from '../model-anthropic/request.ts'
import { toParams as openaiParams } from '../model-openai/request.ts'
import type { ProviderId } from './catalog.ts'

/** A request as its provider gets it: the JSON body, and the headers that belong to what is asked. */
export interface WireRequest {
  readonly provider: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/**
 * The wire form of a request, made by the same code that sends it; nothing is sent. `official`: of OpenAI's own servers.
 * A script has no wire form: its body is the request itself.
 */
export function wireRequest(provider: ProviderId, request: ModelRequest, official: boolean): WireRequest {
  const plain = (body: unknown) => JSON.parse(JSON.stringify(body)) as Json
  if (provider === 'openai') return { provider, headers: {}, body: plain(openaiParams(request, official)) }
  if (provider === 'scripted') return { provider, headers: {}, body: plain(request) }
  // The SDK sends `betas` as a header.
  const { betas, ...body } = anthropicParams(request)
  const headers: WireRequest['headers'] = betas ? { 'anthropic-beta': betas.join(',') } : {}
  return { provider, headers, body: plain(body) }
}
