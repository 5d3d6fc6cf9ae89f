import { ModelError } from '../../domain/agent/errors.ts'

/** More than this is no answer of a model. In bytes, after decompression. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * A `fetch` for a provider's SDK: follows no redirect, since `fetch` would take the key's header along to another host,
 * and breaks off an answer that is too large. Proxy variables count as Node has it (`NODE_USE_ENV_PROXY=1`).
 */
export function boundedFetch(provider: string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' })
    if (response.status >= 300 && response.status < 400 && response.headers.has('location'))
      throw redirected(provider, response)
    if (response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(bounded(provider)), { status, statusText, headers })
  }
}

/** Hands on whole lines only: an SDK that joins the pieces of a long line takes the square of its length. */
function bounded(provider: string): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  let held: Uint8Array[] = []
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) {
        const why = `${provider}: the answer has more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB and was broken off`
        return controller.error(new ModelError('INVALID_RESPONSE', why))
      }
      const end = 1 + Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR))
      if (end > 0) {
        controller.enqueue(Buffer.concat([...held, chunk.subarray(0, end)]))
        held = []
      }
      if (end < chunk.length) held.push(chunk.subarray(end))
    },
    flush: (controller) => controller.enqueue(Buffer.concat(held)),
  })
}

const [LF, CR] = [0x0a, 0x0d]

/** Only the host is told: the rest of an address may hold anything. */
function redirected(provider: string, response: Response): ModelError {
  const location = response.headers.get('location') ?? ''
  const to = URL.canParse(location, response.url) ? new URL(location, response.url).host : 'an address that is none'
  const why = `${provider}: the server redirects to ${to}, where the key is not sent; set the base URL to the real address`
  return new ModelError('INVALID_REQUEST', why)
}
