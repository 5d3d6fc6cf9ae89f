import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { ToolContext } from '../../../domain/ports/index.ts'

export interface WebServer {
  readonly port: number
  readonly url: string
  /** The requested paths, in order. */
  readonly asked: string[]
  readonly headers: IncomingMessage['headers'][]
  /** The number of opened connections. */
  readonly connections: () => number
}

/** A web server that answers every request with `answer`, until the end of the test. */
export async function webServer(
  answer: (res: ServerResponse, req: IncomingMessage) => void,
  at: { host?: string; port?: number } = {},
): Promise<WebServer> {
  const asked: string[] = []
  const headers: IncomingMessage['headers'][] = []
  let connections = 0
  const server = createServer((req, res) => {
    asked.push(req.url ?? '')
    headers.push(req.headers)
    answer(res, req)
  })
  server.on('connection', () => connections++)
  const host = at.host ?? '127.0.0.1'
  await new Promise<void>((resolve) => server.listen(at.port ?? 0, host, resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { port, url: `http://${host}:${port}`, asked, headers, connections: () => connections }
}

/** The context of a tool in these tests: no workspace and no commands. */
export const toolContext = (more: Partial<ToolContext> = {}): ToolContext => ({
  runId: 'r',
  agentId: 'a',
  toolCallId: 'a.t1.c0',
  attempt: 1,
  signal: new AbortController().signal,
  workspace: null,
  sandbox: null,
  ...more,
})
