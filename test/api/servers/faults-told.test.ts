import pg from 'pg'
import { expect, it } from 'vitest'
import { alike } from '../../../api/operations/notices.ts'
import { named } from '../../../projections/engine/postgres/failures.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'

it('messages are alike where only numbers, cursors and names of files differ', () => {
  const full = (n: number) => `PostgreSQL has no room (could not extend file "base/5/${n}.1": No space left); make room`
  expect(alike(full(16384), full(2619))).toBe(true)
  const behind = (hash: string) => `the tables do not show a1b:42:${hash} yet: PostgreSQL has given up`
  expect(alike(behind('9f8e'), behind('0d1c'))).toBe(true)
  expect(alike(behind('9f8e'), full(1))).toBe(false)
  expect(alike('PostgreSQL refuses it (no right)', 'PostgreSQL refuses it (no such user)')).toBe(false)
})

it('a word that is as long as one likes is looked at once', async () => {
  const word = 'a'.repeat(2_000_000)
  expect([alike(`${word} is at 1`, `${word} is at 2`), alike(word, `${word}b`)]).toEqual([true, false])
})

describeWithSharedPostgres('what PostgreSQL cannot do', (server) => {
  it.each([
    ['a full disk', `do $$ begin raise exception 'No space left' using errcode = '53100'; end $$`, 'FULL', /make room/],
    [
      'a server that takes no writes',
      'set transaction_read_only to on; create table t ()',
      'REFUSED',
      /name the one that/,
    ],
    ['a time limit', `set statement_timeout to 1; select pg_sleep(60)`, 'UNAVAILABLE', /given up/],
    ['a lock that is not given', `set lock_timeout to 1; lock table kept in share mode`, 'UNAVAILABLE', /given up/],
  ])('%s is told by name', async (_, text, code, says) => {
    const clients = [0, 1].map(() => new pg.Client({ connectionString: server().url }))
    await Promise.all(clients.map((client) => client.connect()))
    const [holder, client] = clients
    try {
      await holder!.query('create table if not exists kept ()')
      await holder!.query('begin; lock table kept in access exclusive mode')
      const error = await client!.query(text).catch(named)
      expect(error).toMatchObject({ name: 'ProjectionError', code, message: expect.stringMatching(says) })
    } finally {
      await Promise.all(clients.map((one) => one.end()))
    }
  })
})
