import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { FaultProxy } from '../network/fault-proxy.ts'
import { PostgresServer } from '../postgres/postgres-server.ts'

const STAND_IN = fileURLToPath(new URL('../eventstore/main.ts', import.meta.url))

/** The two servers of a deployment: EventStoreDB (a stand-in, or the server at EVENTSTORE_URL) and PostgreSQL. */
export interface Pair {
  readonly postgres: PostgresServer
  readonly url: string
  /** Settings of a process with these servers, with a new namespace each time. */
  fresh(): Record<string, string>
  /** A network of its own to both servers, and the settings of a process behind it. */
  link(): Promise<Network>
  /** Cuts the connections of the stand-in; has no effect on a real server. */
  cut(): Promise<void>
  /** Sends a command to the stand-in program. Rejects for a real server. */
  tell(line: string): Promise<void>
  stop(): Promise<void>
}

/** The ways of one process to its servers. */
export interface Network {
  readonly env: Record<string, string>
  readonly proxies: readonly [eventstore: FaultProxy, postgres: FaultProxy]
}

/** A stand-in in a separate process, which ends with its standard input. */
async function standIn(args: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, [STAND_IN, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  const { value: url } = await lines.next()
  let queue: Promise<unknown> = Promise.resolve()
  const tell = (line: string): Promise<void> => {
    const done = queue.then(async () => {
      child.stdin!.write(`${line}\n`)
      const { value } = await lines.next()
      if (value !== `done ${line}`) throw new Error(`the stand-in said: ${value}`)
    })
    queue = done.catch(() => undefined)
    return done
  }
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.stdin!.end()
    // After many killed clients it can still be busy with deliveries to them.
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
    await ended
    clearTimeout(timer)
  }
  return { url: String(url), tell, stop }
}

/** `cluster`: three stand-ins with one leader, also where a real server is named. */
export async function openPair({ cluster = false } = {}): Promise<Pair> {
  const real = cluster ? undefined : process.env.EVENTSTORE_URL
  const stood = real ? null : await standIn(cluster ? ['--cluster'] : [])
  const postgres = new PostgresServer()
  const url = real ?? stood!.url
  const tell = (line: string) => stood?.tell(line) ?? Promise.reject(new Error('a real server takes no such orders'))
  const links: FaultProxy[] = []
  const link = async (): Promise<Network> => {
    const { hostname: host, port } = new URL(url.replace('esdb:', 'http:'))
    const proxies = [new FaultProxy({ host, port: Number(port) }), new FaultProxy({ path: postgres.socket })] as const
    links.push(...proxies)
    const [log, tables] = await Promise.all(proxies.map((proxy) => proxy.listen()))
    const env = {
      KEEPUP_EVENTSTORE: url.replace(`:${port}`, `:${log}`),
      KEEPUP_POSTGRES: `postgres://keepup@127.0.0.1:${tables}/postgres`,
    }
    return { env, proxies }
  }
  return {
    postgres,
    url,
    link,
    fresh: () => ({
      KEEPUP_EVENTSTORE: url,
      KEEPUP_POSTGRES: postgres.url,
      KEEPUP_NAMESPACE: `t${randomBytes(5).toString('hex')}`,
      KEEPUP_LEASE_MS: '2000',
    }),
    cut: async () => stood?.tell('drop 0'),
    tell,
    async stop() {
      for (const one of links) one.close()
      postgres.remove()
      await stood?.stop()
    },
  }
}
