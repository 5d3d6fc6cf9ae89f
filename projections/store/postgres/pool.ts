import pg from 'pg'

/** What a pool is opened with. */
export interface PoolOptions {
  /** `postgres://user:password@host:port/database`, or `postgres:///database?host=/socket/folder`. */
  readonly url: string
  /** Connections at most (default 12): two for each projector, two for a comparison, the rest for readers. */
  readonly max?: number
}

/**
 * Connections for {@link PostgresHome} and for the adapters beside it, whose caller ends the pool. It needs sessions of its
 * own: a proxy that shares them between clients loses the locks that mark a writer.
 */
export function openPool({ url, max = 12 }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: 'keepup',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types: { getTypeParser },
  })
  // A connection that breaks is an error of whoever uses it, or of nobody.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

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
