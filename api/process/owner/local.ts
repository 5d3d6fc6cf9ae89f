import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isReadOnlyFileSystem } from '../../../adapters/sqlite/open-to-read.ts'
import { type AppOptions, createApp } from '../../http/app.ts'
import { overNetwork } from '../../http/network.ts'
import { liveToken, tokenPath } from '../../http/token.ts'
import type { Services } from '../../operations/services.ts'
import { VERSION } from '../../version.ts'
import { type Config, onServers } from '../config/settings.ts'
import { abortable } from './abortable.ts'
import type { Backend } from './backend.ts'
import type { Listening } from './listen.ts'
import { chooseSocketPath } from './socket-path.ts'

/** The time for clients to read the end of their streams when an owner ends, in ms. */
const GRACE_MS = 1000

export interface LocalBackend extends Backend {
  readonly services: Services
  /** The address for TCP clients. Null: the process does not listen on TCP. */
  readonly url: string | null
}

export interface LocalOptions {
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly tcp: boolean
  readonly onFault: AppOptions['onFault']
  readonly onRequest?: AppOptions['onRequest']
}

/**
 * The runtime in this process behind the same HTTP app as in every other case. An owner also listens on the data
 * folder's socket for other processes. On servers it does not, because every process may write.
 */
export async function localBackend(services: Services, options: LocalOptions): Promise<LocalBackend> {
  const { config } = options
  const token = await tokenOf(services, config)
  let url: string | null = null
  const app = createApp(services, {
    token,
    hosts: config.hosts,
    maxBodyBytes: config.maxBodyBytes,
    heartbeatMs: config.heartbeatMs,
    version: VERSION,
    ...(services.readOnly ? {} : { endedSessions: join(config.data, 'ended-sessions') }),
    // A browser cannot open a wildcard address such as 0.0.0.0.
    url: () => url?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:') ?? null,
    onFault: options.onFault,
    ...(options.onRequest ? { onRequest: options.onRequest } : {}),
  })
  const listening: Listening[] = []
  const drain = (ms = config.drainMs) => services.drivers.stop(ms)
  const closeAll = async () => {
    await drain()
    // Close the sockets before the lock is released: the next owner must find the paths free.
    await Promise.all(listening.map((l) => l.close(GRACE_MS)))
    await services.close()
  }
  try {
    // A command that only reads loads no server.
    const server = () => import('./listen.ts')
    if (!services.readOnly && !onServers(config)) {
      const { listenSocket } = await server()
      listening.push(await listenSocket(app.fetch, chooseSocketPath(config.data, options.env)))
    }
    if (options.tcp) {
      const { listenTcp } = await server()
      const tcp = await listenTcp(
        (request, address) => app.fetch(request, overNetwork(address)),
        ...([config.host, config.port] as const),
      )
      listening.push(tcp)
      const address = tcp.server.address()
      const host = config.host.includes(':') ? `[${config.host}]` : config.host
      url = `http://${host}:${typeof address === 'object' && address ? address.port : config.port}`
    }
  } catch (error) {
    await closeAll()
    throw error
  }
  let closed: Promise<void> | null = null
  return {
    kind: services.readOnly ? 'reader' : 'owner',
    services,
    url,
    async fetch(asked) {
      const request = new Request(asked)
      request.headers.set('authorization', `Bearer ${config.key ?? token()}`)
      const response = await app.fetch(request)
      return response.body ? new Response(abortable(response.body, asked), response) : response
    },
    drain,
    close() {
      closed ??= closeAll()
      return closed
    },
  }
}

/**
 * The install's token. A reader on a read-only file system without one uses a token that only this process knows. If the
 * token is unusable, closes the services, which releases their lock.
 */
async function tokenOf(services: Services, config: Config): Promise<() => string> {
  try {
    if (services.readOnly && isReadOnlyFileSystem(config.data) && !existsSync(tokenPath(config.data))) {
      const token = Buffer.from(services.random.bytes(32)).toString('base64url')
      return () => token
    }
    return liveToken(config.data, (n) => services.random.bytes(n))
  } catch (error) {
    await services.close()
    throw error
  }
}
