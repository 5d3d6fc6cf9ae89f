import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'

/**
 * Requests with unfinished responses. The set keeps them from garbage collection, after which a signal never aborts.
 */
const underway = new Set<Request>()

/** Fetches over a unix socket. Streams response bodies with backpressure. Rejects like node:http. */
export async function socketFetch(socketPath: string, asked: Request): Promise<Response> {
  const url = new URL(asked.url)
  const body = asked.body === null ? null : Buffer.from(await asked.arrayBuffer())
  const headers: Record<string, string> = Object.fromEntries(asked.headers)
  headers.host = 'localhost'
  if (body) headers['content-length'] = String(body.byteLength)
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { socketPath, method: asked.method, path: url.pathname + url.search, headers, signal: asked.signal }
    const outgoing = request({ ...options, agent: false }, resolve)
    underway.add(asked)
    outgoing.once('close', () => underway.delete(asked))
    outgoing.once('error', reject)
    outgoing.end(body ?? undefined)
  })
  const answer = new Headers()
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    answer.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!)
  }
  const status = incoming.statusCode ?? 500
  if (status === 204 || status === 304) {
    incoming.resume()
    return new Response(null, { status, headers: answer })
  }
  return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, { status, headers: answer })
}
