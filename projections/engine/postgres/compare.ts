import type pg from 'pg'
import type { TableSpec } from '../schema/columns.ts'
import type { TableDifference } from '../store/home.ts'
import { described } from './shape.ts'

// Each generation is read in its own transaction, because neither transaction may see the changes of the other. The
// tables' digests are compared first; only unequal tables are read row by row.

const PAGE = 500
/** Maximum size of a text that is compared whole, in bytes. */
const LONG = 2000

/** Differences of the tables in the search paths of two connections, each of which is inside a transaction. */
export async function differencesOf(live: pg.PoolClient, rebuilt: pg.PoolClient): Promise<TableDifference[]> {
  const differences: TableDifference[] = []
  for (const [table, spec] of described()) {
    const [ours, theirs] = await Promise.all([live.query(digest(table, spec)), rebuilt.query(digest(table, spec))])
    if (JSON.stringify(ours.rows) !== JSON.stringify(theirs.rows))
      differences.push(await difference(table, spec, live, rebuilt))
  }
  return differences
}

/** The fixed compare query: the number of rows, and the sum of their hashes in any order. */
const digest = (table: string, { columns }: TableSpec) => `
  select count(*) as n, cast(sum(cast(cast('x' || substr(md5(cast(row(${names(columns)}) as text)), 1, 16) as bit(64)) as bigint)) as text)
  from ${table}`

const names = (columns: TableSpec['columns']) =>
  Object.keys(columns)
    .map((name) => `"${name}"`)
    .join(', ')

type Row = Record<string, string | number | null>

async function difference(
  table: string,
  spec: TableSpec,
  live: pg.PoolClient,
  rebuilt: pg.PoolClient,
): Promise<TableDifference> {
  const [ours, theirs] = [new Rows(live, table, spec), new Rows(rebuilt, table, spec)]
  const only = { live: [] as Row[], rebuilt: [] as Row[] }
  let [onlyLive, onlyRebuilt] = [0, 0]
  let [a, b] = [await ours.next(), await theirs.next()]
  while (a || b) {
    const order = a && b ? byKey(spec.key, a, b) : a ? -1 : 1
    const differ = order !== 0 || JSON.stringify(a) !== JSON.stringify(b)
    if (differ && order <= 0 && onlyLive++ < 3) only.live.push(a!)
    if (differ && order >= 0 && onlyRebuilt++ < 3) only.rebuilt.push(b!)
    if (order <= 0) a = await ours.next()
    if (order >= 0) b = await theirs.next()
  }
  await Promise.all([ours.close(), theirs.close()])
  return { table, onlyLive, onlyRebuilt, examples: only }
}

/** A long text is compared by its beginning and its digest, which bounds the size of a page of rows. */
const short = (column: string) => `case when octet_length(${column}) <= ${LONG} then ${column}
  else left(${column}, 100) || '… (md5 ' || md5(${column}) || ')' end as ${column}`

/** The rows of a table in order of its key, in pages. */
class Rows {
  readonly #client: pg.PoolClient
  readonly #query: string
  #page: Row[] = []
  #at = 0
  #state: 'new' | 'open' | 'end' = 'new'
  constructor(client: pg.PoolClient, table: string, { columns, key }: TableSpec) {
    this.#client = client
    const shown = Object.entries(columns).map(([name, kind]) =>
      key.includes(name) || !kind.startsWith('text') ? `"${name}"` : short(`"${name}"`),
    )
    this.#query = `select ${shown.join(', ')} from ${table} order by ${key.map((name) => `"${name}"`).join(', ')}`
  }

  async next(): Promise<Row | null> {
    if (this.#at < this.#page.length) return this.#page[this.#at++]!
    if (this.#state === 'end') return null
    if (this.#state === 'new') await this.#client.query(`declare rows no scroll cursor for ${this.#query}`)
    this.#page = (await this.#client.query<Row>(`fetch ${PAGE} from rows`)).rows
    this.#state = this.#page.length < PAGE ? 'end' : 'open'
    this.#at = 0
    return this.#page[this.#at++] ?? null
  }

  async close(): Promise<void> {
    await this.#client.query('close rows')
  }
}

/** The order of the database: numbers by value, texts by their bytes. */
function byKey(key: readonly string[], a: Row, b: Row): number {
  for (const name of key) {
    const [x, y] = [a[name]!, b[name]!]
    if (x === y) continue
    return typeof x === 'number' ? x - Number(y) : Buffer.compare(Buffer.from(x), Buffer.from(String(y)))
  }
  return 0
}
