import type { Pool } from 'pg'
import { formatCursor, parseCursor } from '../../domain/log/cursor.ts'
import { LogError } from '../../domain/log/errors.ts'
import { sqlState } from '../../domain/log/loss/lost.ts'
import { edgeBytes, eventLeaf, parseEdge } from '../../domain/log/proof/tree.ts'
import { TILE_WIDTH, type Tile } from '../../domain/log/proof/tree-proof.ts'
import type {
  Failure,
  FailureSubject,
  SignedHead,
  StoredTree,
  TreeGrowth,
  TreeStore,
} from '../../domain/ports/proof.ts'
import { treeMoved } from '../../domain/proof/errors.ts'
import { ask, askPatiently } from './ask.ts'
import { prepareSchema } from './prepare.ts'

export interface PostgresTreeStoreOptions {
  /** The caller opens and ends the pool. */
  readonly pool: Pool
  /** A separate schema, created if missing. */
  readonly schema: string
}

/**
 * `leaves` has every event of the tree, because the positions of an event store are not dense, and so that proofs read
 * no log. `hashes` has the levels from 1 on. The one row of `tree` is the lock of all writers.
 */
const create = (schema: string) => `
  create table ${schema}.tree (
    id int primary key check (id = 1), size bigint not null, edge bytea, cursor text collate "C");
  insert into ${schema}.tree (id, size) values (1, 0);
  create table ${schema}.leaves (
    leaf bigint primary key, position bigint not null unique, stream text collate "C" not null,
    revision bigint not null, hash bytea not null);
  create table ${schema}.hashes (
    level int not null, number bigint not null, hash bytea not null, primary key (level, number));
  create table ${schema}.heads (
    number bigint generated always as identity primary key, origin text collate "C" not null, size bigint not null,
    note text collate "C" not null, at bigint not null, unique (origin, size));
  create table ${schema}.failures (subject text collate "C" primary key, message text not null, at bigint not null);
  create function ${schema}.refuse() returns trigger language plpgsql as
    $refuse$ begin raise exception 'heads are final'; end $refuse$;
  create trigger heads_final before update or delete on ${schema}.heads
    for each row execute function ${schema}.refuse();
  create trigger heads_kept before truncate on ${schema}.heads
    for each statement execute function ${schema}.refuse()`

const UNIQUE_VIOLATION = '23505'

interface HeadRow {
  readonly number: number
  readonly origin: string
  readonly size: number
  readonly note: string
  readonly at: number
}

/** The tree of a log on servers, in a schema of PostgreSQL. Rejects with LogError, and `grow` with `TREE_MOVED`. */
export class PostgresTreeStore implements TreeStore {
  readonly storesLeaves = true
  readonly #pool: Pool
  readonly #schema: string

  private constructor({ pool, schema }: PostgresTreeStoreOptions) {
    this.#pool = pool
    this.#schema = schema
  }

  static async open(options: PostgresTreeStoreOptions): Promise<PostgresTreeStore> {
    const { pool, schema } = options
    await askPatiently(`prepare ${schema}`, () => prepareSchema(pool, schema, 'tree', create(schema)))
    return new PostgresTreeStore(options)
  }

  async load(): Promise<StoredTree | null> {
    type Row = { edge: Uint8Array | null; cursor: string }
    const [row] = await this.#rows<Row>('read the tree', `select edge, cursor from ${this.#schema}.tree`)
    return row === undefined || row.edge === null
      ? null
      : { edge: parseEdge(row.edge), cursor: parseCursor(row.cursor) }
  }

  /** One statement, so that the size is compared and everything is stored in one transaction. */
  async grow({ edge, cursor, leaves, hashes, head }: TreeGrowth): Promise<void> {
    const to = this.#schema
    const text = `with durably as materialized (select set_config('synchronous_commit', 'on', true)),
      moved as (update ${to}.tree set size = $2, edge = $3, cursor = $4 from durably where size = $1 returning size),
      leaf as (insert into ${to}.leaves select $1 + n - 1, position, stream, revision, hash from moved,
        unnest($5::bigint[], $6::text[], $7::bigint[], $8::bytea[]) with ordinality
          as new(position, stream, revision, hash, n)),
      hash as (insert into ${to}.hashes select level, number, hash from moved,
        unnest($9::int[], $10::bigint[], $11::bytea[]) as new(level, number, hash)),
      head as (insert into ${to}.heads (origin, size, note, at)
        select $12, $13::bigint, $14, $15::bigint from moved where $12::text is not null)
      select size from moved`
    const values = [
      ...[edge.size - leaves.length, edge.size, edgeBytes(edge), formatCursor(cursor)],
      ...(['position', 'stream', 'revision'] as const).map((name) => leaves.map((leaf) => leaf[name])),
      leaves.map(({ hash }) => Buffer.from(hash, 'hex')),
      ...[hashes.map(({ level }) => level), hashes.map(({ index }) => index), hashes.map(({ hash }) => bytesOf(hash))],
      ...[head?.origin ?? null, head?.size ?? null, head?.note ?? null, head?.at ?? null],
    ]
    try {
      if ((await this.#rows('store the tree', text, values)).length === 0) throw treeMoved()
    } catch (error) {
      if (error instanceof LogError && sqlState(error.cause) === UNIQUE_VIOLATION) throw treeMoved()
      throw error
    }
  }

  async tile({ level, index, width }: Tile): Promise<Uint8Array> {
    const first = index * TILE_WIDTH
    const [table, key] = level === 0 ? ['leaves', 'leaf'] : ['hashes', 'number']
    const text = `select hash from ${this.#schema}.${table}
      where ${key} >= $1 and ${key} < $2 ${level === 0 ? '' : 'and level = $3'} order by ${key}`
    const values = [first, first + width, ...(level === 0 ? [] : [level])]
    const hashes = (await this.#rows<{ hash: Buffer }>('read the tree', text, values)).map(({ hash }) => hash)
    return Buffer.concat(level === 0 ? hashes.map((hash) => eventLeaf(hash.toString('hex'))) : hashes)
  }

  async indexOf(position: number): Promise<number | null> {
    const text = `select leaf from ${this.#schema}.leaves where position = $1`
    const [row] = await this.#rows<{ leaf: number }>('look for an event in the tree', text, [position])
    return row?.leaf ?? null
  }

  async lastHead(origin?: string): Promise<SignedHead | null> {
    const text = `select * from ${this.#schema}.heads where $1::text is null or origin = $1 order by number desc limit 1`
    const [row] = await this.#rows<HeadRow>('read the last head', text, [origin ?? null])
    if (row === undefined) return null
    const { number: _, ...head } = row
    return head
  }

  heads(after: number, limit: number): Promise<readonly HeadRow[]> {
    const text = `select * from ${this.#schema}.heads where number > $1 order by number limit $2`
    return this.#rows<HeadRow>('read the heads', text, [after, limit])
  }

  async clear(): Promise<void> {
    const to = this.#schema
    // One transaction of several statements: after waiting for a writer, the later ones see the writer's rows.
    const text = `update ${to}.tree set size = 0, edge = null, cursor = null;
      delete from ${to}.leaves; delete from ${to}.hashes`
    await askPatiently('clear the tree', () => this.#pool.query(text))
  }

  async report(subject: FailureSubject, failure: Failure | null): Promise<void> {
    const table = `${this.#schema}.failures`
    const text =
      failure === null
        ? `delete from ${table} where subject = $1`
        : `insert into ${table} values ($1, $2, $3)
            on conflict (subject) do update set message = excluded.message, at = excluded.at`
    await this.#rows('note a failure', text, [subject, ...(failure === null ? [] : [failure.message, failure.at])])
  }

  async failures(): Promise<ReadonlyMap<FailureSubject, Failure>> {
    type Row = Failure & { readonly subject: FailureSubject }
    const rows = await this.#rows<Row>('read the failures', `select * from ${this.#schema}.failures`)
    return new Map(rows.map(({ subject, message, at }) => [subject, { message, at }]))
  }

  async #rows<R extends object>(what: string, text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await ask<R>(this.#pool, what, text, values)).rows
  }
}

const bytesOf = (hash: Uint8Array) => Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength)
