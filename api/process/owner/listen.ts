import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { ListenOptions } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { platformOf } from '../../../domain/platform.ts'
import { Problem } from '../../operations/problem.ts'

export interface Listening {
  readonly server: Server
  /** Refuses new requests, gives current ones `graceMs` to end, then aborts them. */
  close(graceMs: number): Promise<void>
}

/** How long an idle connection stays open. Each answer names this time to the client. */
const KEEP_ALIVE_MS = 75_000

/** `address`: the remote address; null: there is none. */
type Fetch = (request: Request, address: string | null) => Response | Promise<Response>

function listen(fetch: Fetch, where: ListenOptions): Promise<Listening> {
  const listener = getRequestListener((request, { incoming }) => fetch(request, remoteAddress(incoming.socket)), {
    overrideGlobalObjects: false,
  })
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  // Responses may stream for any time. Only the arrival of a request has a time limit.
  server.requestTimeout = 60_000
  // Longer than proxies and clients keep idle connections (60 s in most proxies): a request on a connection that the server
  // is closing fails with ECONNRESET.
  server.keepAliveTimeout = KEEP_ALIVE_MS
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

/** A server for both families reports IPv4 addresses as IPv6 ones. */
const remoteAddress = ({ remoteAddress }: { readonly remoteAddress?: string | undefined }): string | null =>
  remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? null

/** The remedy for each system error code of `listen`. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there: end it, or name another port with --port (0: any)',
  EACCES: 'this user may not listen there: name a port from 1024 on with --port',
  EADDRNOTAVAIL: 'no network of this machine has that address: name one of its own with --host',
  ENOTFOUND: 'there is no host of that name: name an address of this machine with --host',
}

/** Listens on TCP. `port` 0: any free port. Rejects with a Problem `ADDRESS_UNUSABLE` that contains a remedy. */
export function listenTcp(fetch: Fetch, host: string, port: number): Promise<Listening> {
  return listen(fetch, { host, port }).catch((error: NodeJS.ErrnoException) => {
    const todo = ELSEWHERE[error.code ?? '']
    throw todo === undefined ? error : new Problem('ADDRESS_UNUSABLE', `cannot serve on ${host}, port ${port}: ${todo}`)
  })
}

/**
 * Listens on a unix socket that only this user can reach. An existing socket at the path is left over from a dead
 * owner: the caller has the lock, so no other process can listen there.
 */
export async function listenSocket(fetch: Fetch, path: string): Promise<Listening> {
  // A named pipe ends with its owner, and has no mode.
  if (!platformOf(process.platform).hasSocketFiles) return listen(fetch, { path })
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found.isSocket())
    throw new Problem('DATA_FOLDER_UNUSABLE', `${path} is not the socket that keepup keeps there; move it away`)
  rmSync(path, { force: true })
  const listening = await listen(fetch, { path })
  chmodSync(path, 0o600)
  return listening
}
