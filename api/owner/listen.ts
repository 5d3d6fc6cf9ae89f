import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { ListenOptions } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Problem } from '../problem.ts'

export interface Listening {
  readonly server: Server
  /** Takes no new requests, gives those under way `graceMs` to end, then breaks them off. */
  close(graceMs: number): Promise<void>
}

type Fetch = (request: Request) => Response | Promise<Response>

function listen(fetch: Fetch, where: ListenOptions): Promise<Listening> {
  const listener = getRequestListener((request) => fetch(request), { overrideGlobalObjects: false })
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  // Streams stay open as long as the consumer likes; a request, though, has to arrive.
  server.requestTimeout = 60_000
  const close = (graceMs: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      server.close(() => {
        clearTimeout(timer)
        resolve()
      })
      server.closeIdleConnections()
    })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve({ server, close })
    })
  })
}

/** Listens on TCP. `port` 0: any free one. */
export const listenTcp = (fetch: Fetch, host: string, port: number): Promise<Listening> => listen(fetch, { host, port })

/**
 * Listens on a unix socket that only this user can reach. A socket at the path is left over from an owner that died: the
 * caller holds the lock, so nobody else can be listening there.
 */
export async function listenSocket(fetch: Fetch, path: string): Promise<Listening> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found.isSocket())
    throw new Problem(503, 'DATA_FOLDER_UNUSABLE', `${path} is not the socket that keepup keeps there; move it away`)
  rmSync(path, { force: true })
  const listening = await listen(fetch, { path })
  chmodSync(path, 0o600)
  return listening
}
