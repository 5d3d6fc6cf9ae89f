import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { WatchedClient, withCodes } from './watched.ts'

/** Options of a pool. */
export interface PoolOptions {
  /** `postgres://user:password@host:port/database`, or `postgres:///database?host=/socket/folder`. */
  readonly url: string
  /** Connections at most (default 12): two for each projector, two for a comparison, the rest for readers. */
  readonly max?: number
  /** After so long without an answer the server is asked whether it is at it (ms, default 15 s); see {@link WatchedClient}. */
  readonly silentMs?: number
  /** How long a connection may take to be made, or to become free (ms, default 10 s). */
  readonly connectMs?: number
}

const SILENT_MS = 15_000
const CONNECT_MS = 10_000
/** How long ending waits for what is at work, ms. */
const SHUT_WITHIN_MS = 5_000

/** Timers and the clock that is asked here may differ by so much, ms. */
const CLOCK_MS = 2
/** Of a pool that was ended: no connection was lost. */
const CLOSED = 'ERR_POOL_ENDED'

/** Connections of one user to one database. */
export class ConnectionPool extends pg.Pool {
  readonly #open: Set<WatchedClient>
  readonly #connectMs: number

  constructor({ url, max = 12, silentMs = SILENT_MS, connectMs = CONNECT_MS }: PoolOptions) {
    const config: pg.ClientConfig = {
      connectionString: url,
      application_name: 'keepup',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      // So that nothing on the way takes for dead what waits in a transaction.
      keepAliveInitialDelayMillis: 10_000,
      types: { getTypeParser },
    }
    const open = new Set<WatchedClient>()
    class Client extends WatchedClient {
      constructor() {
        super(config, silentMs)
        open.add(this)
        this.on('end', () => open.delete(this))
      }
    }
    super({ ...config, max, Client, onConnect: (client) => (client as Client).identify() })
    this.#open = open
    this.#connectMs = connectMs
    // The user of a broken connection gets the error; an idle one may break.
    this.on('error', () => undefined)
  }

  /** Rejects with a code: `ETIMEDOUT` where there was no connection in time, that of the client otherwise. */
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void
  override connect(...args: never[]): never {
    const due = performance.now() + this.#connectMs - CLOCK_MS
    const code = () => (this.ending ? CLOSED : performance.now() >= due ? 'ETIMEDOUT' : 'ECONNRESET')
    return withCodes(args, code, (all) => super.connect(...(all as [])))
  }

  /** {@link end}, within a bound: what is at work for longer than `withinMs` is broken off. */
  async shut(withinMs = SHUT_WITHIN_MS): Promise<void> {
    if (this.ending) return
    const over = new AbortController()
    await Promise.race([this.end(), sleep(withinMs, undefined, over).catch(() => undefined)])
    over.abort()
    for (const client of this.#open) client.breakOff()
  }
}

/**
 * Connections for {@link PostgresHome} and for the adapters beside it, whose caller ends the pool. It needs sessions of its
 * own: a proxy that shares them between clients loses the locks that mark a writer.
 */
export const openPool = (options: PoolOptions): ConnectionPool => new ConnectionPool(options)

const { INT8, NUMERIC } = pg.types.builtins

/** Sums and counts come as numbers, as SQLite gives them; a whole number that a number cannot hold is refused. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (format !== 'binary' && (oid === INT8 || oid === NUMERIC)) return numberOf
  return pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown
}

function numberOf(text: string): number {
  const number = Number(text)
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) throw new RangeError(`${text} is more than a number can hold exactly`)
  return number
}
