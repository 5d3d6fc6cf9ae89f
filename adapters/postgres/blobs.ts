import type { Pool } from 'pg'
import { LogError } from '../../domain/log/errors.ts'
import type { BlobStore } from '../../domain/ports/index.ts'
import { checkAddress } from '../files/blob-address.ts'
import { prepareSchema } from './prepare.ts'
import { ask, askPatiently } from './query.ts'

export interface PostgresBlobsOptions {
  /** The caller opens and ends the pool. */
  readonly pool: Pool
  /** A separate schema (default `keepup_blobs`), created if missing. */
  readonly schema?: string
}

/**
 * Blobs as rows of one table. Every rejection is a LogError. The caller checks the bytes. A deleted blob is unreadable
 * at once. Its bytes leave PostgreSQL's files with the next vacuum, and backups when they expire.
 */
export class PostgresBlobs implements BlobStore {
  readonly #pool: Pool
  readonly #table: string
  private constructor(pool: Pool, table: string) {
    this.#pool = pool
    this.#table = table
  }

  static async open({ pool, schema = 'keepup_blobs' }: PostgresBlobsOptions): Promise<PostgresBlobs> {
    const table = `${schema}.blobs`
    await askPatiently(`prepare ${table}`, async () => {
      const { rows } = await pool.query<{ fsync: string }>('show fsync')
      if (rows[0]?.fsync !== 'on') {
        const why = 'this PostgreSQL runs with fsync = off, so nothing in it is durable; turn it on'
        throw new LogError('LOG_UNAVAILABLE', why)
      }
      await prepareSchema(
        pool,
        schema,
        'blobs',
        `create table ${table} (
          run_id text collate "C" not null, hash text collate "C" not null, bytes bytea not null,
          primary key (run_id, hash))`,
      )
      await uncompressed(pool, schema)
    })
    return new PostgresBlobs(pool, table)
  }

  async put(runId: string, hash: string, bytes: Uint8Array): Promise<void> {
    // The answer must mean that the blob is durable, regardless of the defaults of the server and the user.
    const text = `with durably as materialized (select set_config('synchronous_commit', 'on', true))
      insert into ${this.#table} select $1, $2, $3 from durably on conflict do nothing`
    await this.#do('write', runId, hash, text, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }

  async get(runId: string, hash: string): Promise<Uint8Array> {
    const text = `select bytes from ${this.#table} where run_id = $1 and hash = $2`
    const [row] = await this.#do('read', runId, hash, text)
    if (row) return row.bytes
    throw new LogError('BLOB_MISSING', `there is no blob ${runId}/${hash} in ${this.#table}; restore it from a backup`)
  }

  async part(runId: string, hash: string, from: number, length: number): Promise<Uint8Array> {
    const text = `select substring(bytes from $3::int for $4::int) as bytes from ${this.#table} where run_id = $1 and hash = $2`
    const [row] = await this.#do('read', runId, hash, text, from + 1, length)
    if (row) return row.bytes
    throw new LogError('BLOB_MISSING', `there is no blob ${runId}/${hash} in ${this.#table}; restore it from a backup`)
  }

  async list(runId: string): Promise<readonly string[]> {
    checkAddress(runId, '0'.repeat(64))
    const text = `select hash from ${this.#table} where run_id = $1`
    const { rows } = await ask<{ hash: string }>(this.#pool, `list the blobs of ${runId}`, text, [runId])
    return rows.map(({ hash }) => hash)
  }

  async delete(runId: string, hash: string): Promise<void> {
    await this.#do('delete', runId, hash, `delete from ${this.#table} where run_id = $1 and hash = $2`)
  }

  async #do(
    what: string,
    runId: string,
    hash: string,
    text: string,
    ...more: (Buffer | number)[]
  ): Promise<{ bytes: Buffer }[]> {
    checkAddress(runId, hash)
    const done = `${what} the blob ${runId}/${hash}`
    return (await ask<{ bytes: Buffer }>(this.#pool, done, text, [runId, hash, ...more])).rows
  }
}

/**
 * Turns compression off for new rows. Reading a part of a compressed value costs as much as reading everything before
 * it.
 */
async function uncompressed(pool: Pool, schema: string): Promise<void> {
  const text = `select 1 from pg_attribute where attrelid = to_regclass($1) and attname = 'bytes' and attstorage <> 'e'`
  const { rowCount } = await pool.query(text, [`${schema}.blobs`])
  if (rowCount !== 0) await pool.query(`alter table ${schema}.blobs alter column bytes set storage external`)
}
