import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface WireSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[]
}

export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export const spansOf = (text: string): WireSpan[] =>
  (JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[] }).resourceSpans.flatMap(
    ({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans),
  )

/** A collector of OTLP/HTTP. `respond`: the answer to the requests; absent: everything is taken. */
export async function collector(
  respond: (response: ServerResponse, request: ReceivedRequest) => void = (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
) {
  const got: ReceivedRequest[] = []
  const answer = { with: respond }
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>).catch(() => null)
    if (chunks === null) return
    const body = Buffer.concat(chunks).toString('utf8')
    const received = { path: request.url ?? '', headers: request.headers, body }
    got.push(received)
    answer.with(response, received)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  return { url: `http://127.0.0.1:${port}`, got, answer, close, spans: () => got.flatMap(({ body }) => spansOf(body)) }
}
