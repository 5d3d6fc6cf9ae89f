import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { WatchedClient, withCodes } from './watched.ts'

export interface PoolOptions {
  /** `postgres://user:password@host:port/database`, or `postgres:///database?host=/socket/folder`. */
  readonly url: string
  /** Maximum number of connections (default 12): two for each projector, two for a comparison, the rest for readers. */
  readonly max?: number
  /**
   * After this time without an answer, another connection checks whether the server is working on the query (ms,
   * default 15 s); see {@link WatchedClient}.
   */
  readonly silentMs?: number
  /** Maximum time to open a connection, or to wait for a free one (ms, default 10 s). */
  readonly connectMs?: number
}

const SILENT_MS = 15_000
const CONNECT_MS = 10_000
/** Maximum time to wait for running work at the end, ms. */
const SHUT_WITHIN_MS = 5_000

/** Maximum difference between timers and this clock, ms. */
const CLOCK_MS = 2
/** The code for a pool that was ended; no connection was lost. */
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
      // Keeps proxies and firewalls from dropping a connection that waits in a transaction.
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
    // The user of a broken connection gets its error; an idle connection may break.
    this.on('error', () => undefined)
  }

  /** Rejects with a code: `ETIMEDOUT` when no connection was available in time, otherwise the client's code. */
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void
  override connect(...args: never[]): never {
    const due = performance.now() + this.#connectMs - CLOCK_MS
    const code = () => (this.ending ? CLOSED : performance.now() >= due ? 'ETIMEDOUT' : 'ECONNRESET')
    return withCodes(args, code, (all) => super.connect(...(all as [])))
  }

  /** Like {@link end}, with a time limit: breaks off work that runs longer than `withinMs`. */
  async shut(withinMs = SHUT_WITHIN_MS): Promise<void> {
    if (this.ending) return
    const over = new AbortController()
    await Promise.race([this.end(), sleep(withinMs, undefined, over).catch(() => undefined)])
    over.abort()
    for (const client of this.#open) client.breakOff()
  }
}

/**
 * Connections for {@link PostgresHome} and for adapters; the caller ends the pool. The pool needs its own server
 * sessions: a proxy that shares sessions between clients loses the locks that mark a writer.
 */
export const openPool = (options: PoolOptions): ConnectionPool => new ConnectionPool(options)

const { INT8, NUMERIC } = pg.types.builtins

/** Returns sums and counts as numbers, like SQLite. Throws RangeError for an integer beyond the safe range. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (format !== 'binary' && (oid === INT8 || oid === NUMERIC)) return numberOf
  return pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown
}

function numberOf(text: string): number {
  const number = Number(text)
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) throw new RangeError(`${text} is more than a number can hold exactly`)
  return number
}
