import { ModelError } from '../../domain/calls/errors.ts'
import { jsonSize } from '../../domain/log/json-size.ts'

/** The most bytes to read of an error answer. */
const MAX_ERROR_BYTES = 64 << 10
/** The deepest nesting of an error answer. Errors of providers have three levels. */
const MAX_ERROR_DEPTH = 32

/**
 * A `fetch` for a provider's SDK. Follows no redirect, because `fetch` would send the header with the key to the other
 * host. Truncates error answers, which the SDK reads whole. Proxy variables work as in Node (`NODE_USE_ENV_PROXY=1`).
 */
export function boundedFetch(provider: string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' })
    if (response.status >= 300 && response.status < 400 && response.headers.has('location')) {
      await response.body?.cancel()
      throw redirected(provider, response)
    }
    if (response.ok) return response
    const { status, statusText, headers } = response
    // Some statuses allow no body.
    return new Response((await errorText(response)) || null, { status, statusText, headers })
  }
}

async function errorText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_ERROR_BYTES) break
  }
  const kept = text.slice(0, MAX_ERROR_BYTES)
  return jsonSize(kept).depth > MAX_ERROR_DEPTH ? 'an error that is nested too deeply to be read' : kept
}

/** The error for a redirect. Names only the host, because the rest of the address may contain a secret. */
function redirected(provider: string, response: Response): ModelError {
  const location = response.headers.get('location') ?? ''
  const to = URL.canParse(location, response.url) ? new URL(location, response.url).host : 'an address that is none'
  const why = `${provider}: the server redirects to ${to}, where the key is not sent; set the base URL to the real address`
  return new ModelError('INVALID_REQUEST', why)
}
