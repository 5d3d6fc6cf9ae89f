import type { Pool } from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { PostgresBlobs } from '../../adapters/postgres/blobs.ts'
import { PostgresLeases } from '../../adapters/postgres/leases.ts'
import { openPool } from '../../projections/postgres.ts'
import { blobStoreContract } from '../contracts/blob-store.ts'
import { leasesContract } from '../contracts/leases.ts'
import { describeWithPostgres } from '../support/postgres/postgres.ts'
import { schemasOf } from '../support/projections/postgres-kit.ts'

const hash = 'ab'.repeat(32)
const bytes = new Uint8Array(1000).fill(7)
describeWithPostgres('adapters on PostgreSQL', (server) => {
  const schemas = schemasOf(server)

  describe('blobs', () => {
    blobStoreContract(() => PostgresBlobs.open({ pool: schemas.pool(), schema: schemas.fresh() }))

    test('survive a crash of the server the moment they are put, whatever its defaults', async () => {
      const [pool, schema] = [schemas.pool(), schemas.fresh()]
      const blobs = await PostgresBlobs.open({ pool, schema })
      await pool.query(`alter system set synchronous_commit = 'off'`)
      await pool.query(`alter system set wal_writer_delay = '10s'`)
      await pool.query('select pg_reload_conf()')
      await pool.query('checkpoint')
      // The setting must have reached a connection first, one without a waiting caller.
      await expect
        .poll(async () => (await pool.query('show synchronous_commit')).rows[0].synchronous_commit)
        .toBe('off')
      await blobs.put('r1', hash, bytes)
      server().stop('immediate')
      server().start()
      const later = await PostgresBlobs.open({ pool, schema })
      expect(Buffer.compare(await later.get('r1', hash), bytes)).toBe(0)
      await pool.query('alter system reset all')
      await pool.query('select pg_reload_conf()')
    })

    test('are stored as they are, also in a table of before, so that a part costs no more than itself', async () => {
      const [pool, schema] = [schemas.pool(), schemas.fresh()]
      const stored = async () => {
        await PostgresBlobs.open({ pool, schema })
        const text = `select attstorage from pg_attribute where attrelid = $1::regclass and attname = 'bytes'`
        return (await pool.query(text, [`${schema}.blobs`])).rows[0].attstorage
      }
      expect(await stored()).toBe('e')
      await pool.query(`alter table ${schema}.blobs alter column bytes set storage extended`)
      expect(await stored()).toBe('e')
    })

    test('a server without fsync, a table that is gone and a missing blob are named', async () => {
      const unsafe = { query: async () => ({ rows: [{ fsync: 'off' }] }) } as unknown as Pool
      await expect(PostgresBlobs.open({ pool: unsafe })).rejects.toThrow(/fsync = off.*turn it on/)
      const [pool, schema] = [schemas.pool(), schemas.fresh()]
      const blobs = await PostgresBlobs.open({ pool, schema })
      await expect(blobs.get('r1', hash)).rejects.toThrow(/restore it from a backup/)
      await pool.query(`drop schema ${schema} cascade`)
      // A lasting fault is not retried.
      const query = vi.spyOn(pool, 'query')
      onTestFinished(() => query.mockRestore())
      await expect(blobs.put('r1', hash, bytes)).rejects.toMatchObject({ name: 'LogError', code: 'LOG_REFUSED' })
      expect(query).toHaveBeenCalledTimes(1)
    })

    test('a full disk is named', async () => {
      const full = Object.assign(new Error('could not extend file'), { code: '53100' })
      const pool = schemas.pool()
      const blobs = await PostgresBlobs.open({ pool, schema: schemas.fresh() })
      const query = vi.spyOn(pool, 'query').mockRejectedValue(full as never)
      onTestFinished(() => query.mockRestore())
      await expect(blobs.put('r1', hash, bytes)).rejects.toMatchObject({ code: 'LOG_FULL' })
      expect(query).toHaveBeenCalledTimes(1)
    })
  })

  describe('leases', () => {
    let schema = ''
    leasesContract({
      open: () => {
        schema = schemas.fresh()
        return PostgresLeases.open({ pool: schemas.pool(), schema })
      },
      advance: async (ms) => {
        const text = `update ${schema}.leases set until = until - $1::double precision * interval '1 millisecond'`
        await schemas.pool().query(text, [ms])
      },
    })

    test('make a dropped table again and report it once; former leases are free', async () => {
      const [pool, own, said] = [schemas.pool(), schemas.fresh(), [] as string[]]
      const leases = await PostgresLeases.open({ pool, schema: own, warn: (text) => said.push(text) })
      await leases.acquire('a', 'd1', 60_000)
      await pool.query(`drop schema ${own} cascade`)
      await expect(leases.release('a', 'd1')).rejects.toMatchObject({ code: 'LOG_REFUSED' })
      expect(await leases.acquire('a', 'd2', 60_000)).toBe(true)
      expect(await leases.acquire('a', 'd1', 60_000)).toBe(false)
      expect(said).toEqual([`the table ${own}.leases was missing and was made again; former leases are lost`])
    })

    test('go by the server’s clock', async () => {
      const [pool, own] = [schemas.pool(), schemas.fresh()]
      const leases = await PostgresLeases.open({ pool, schema: own })
      await leases.acquire('a', 'd', 60_000)
      const left = `select extract(epoch from until - clock_timestamp()) as seconds from ${own}.leases`
      const { seconds } = (await pool.query<{ seconds: number }>(left)).rows[0]!
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThanOrEqual(60)
    })
  })

  test.each([
    [
      '25006',
      'set default_transaction_read_only to on',
      'row share',
      'LOG_REFUSED',
      /takes no writes.*the one that does/,
    ],
    ['57014', `set statement_timeout to '1ms'`, 'access exclusive', 'LOG_UNAVAILABLE', /statements take longer/],
  ])('what PostgreSQL does not do is told with what to do about it: %s', async (_, setting, lock, code, says) => {
    const [own, pool] = [schemas.fresh(), schemas.pool()]
    const one = openPool({ url: server().url, max: 1 })
    onTestFinished(() => one.shut())
    const leases = await PostgresLeases.open({ pool: one, schema: own })
    await one.query(setting)
    const holder = await pool.connect()
    await holder.query(`begin; lock table ${own}.leases in ${lock} mode`)
    onTestFinished(() => holder.release(true))
    const error = await leases.acquire('a', 'd', 60_000).catch((failed: unknown) => failed)
    expect(error).toMatchObject({ code, message: expect.stringMatching(says) })
    expect(String(error)).not.toContain('see that PostgreSQL runs')
  })

  test('processes that start together make each schema once', async () => {
    const [pool, blobs, leases] = [schemas.pool(), schemas.fresh(), schemas.fresh()]
    const many = Array.from({ length: 12 }, () => [
      PostgresBlobs.open({ pool, schema: blobs }),
      PostgresLeases.open({ pool, schema: leases }),
    ])
    await Promise.all(many.flat())
    await expect(PostgresBlobs.open({ pool, schema: 'No' })).rejects.toThrow(/cannot be a schema/)
  })
})
