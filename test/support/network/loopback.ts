import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as readJson } from 'node:stream/consumers'

/** A request that the server received. */
export interface Got {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  /** Resolves when the connection of this request has closed. `complete`: whether the answer was complete. */
  readonly closed: Promise<{ complete: boolean }>
}

export interface Loopback {
  readonly url: string
  readonly got: readonly Got[]
  /** Resolves with the next request. */
  next(): Promise<Got>
  close(): Promise<void>
}

/** A server on the loopback interface. `answer` answers every POST with a JSON body. */
export async function loopback(answer: (res: ServerResponse, got: Got) => void): Promise<Loopback> {
  const got: Got[] = []
  const waiting: ((got: Got) => void)[] = []
  const server = createServer(async (req, res) => {
    const closed = new Promise<{ complete: boolean }>((resolve) => {
      res.once('close', () => resolve({ complete: res.writableFinished }))
    })
    const body = (await readJson(req)) as Record<string, unknown>
    const one: Got = { path: req.url ?? '', headers: req.headers, body, closed }
    got.push(one)
    waiting.shift()?.(one)
    answer(res, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Ends the response with a JSON document. */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers })
  res.end(JSON.stringify(body))
}

/** Starts an event stream. */
export function beginStream(res: ServerResponse, headers: Record<string, string> = {}): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  res.flushHeaders()
}
