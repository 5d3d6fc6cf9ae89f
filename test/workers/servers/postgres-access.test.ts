import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { waitForServer } from '../../../adapters/postgres/query.ts'
import { askingPostgres, postgresProblem } from '../../../api/process/servers/postgres-access.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { ProjectionError } from '../../../projections/engine/errors.ts'
import { openPool } from '../../../projections/postgres.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'

const URL = 'postgres://ann:quiet@db.example:6000/deeds'

/** The report on an error of the client or the server that one of ours wraps. */
function told(cause: unknown, postgres = URL): string {
  const error = postgresProblem(new LogError('LOG_UNAVAILABLE', 'cannot do it', { cause }), { postgres })
  expect(error).toMatchObject({ code: 'POSTGRES_UNAVAILABLE' })
  return (error as Error).message
}
const failed = (message: string, code?: string) => Object.assign(new Error(message), code === undefined ? {} : { code })

test.each([
  [failed('connect ECONNREFUSED 10.0.0.1:6000', 'ECONNREFUSED'), 'see that PostgreSQL runs there'],
  [failed('getaddrinfo ENOTFOUND db.example', 'ENOTFOUND'), 'see that PostgreSQL runs there'],
  [failed('password authentication failed for user "ann"', '28P01'), 'see the user (ann) and the password'],
  [failed('database "deeds" does not exist', '3D000'), 'createdb deeds'],
  [failed('connection lost', 'ETIMEDOUT'), 'does not answer'],
  [failed('keine Berechtigung für Schema acme', '42501'), 'name the user that owns the schemas'],
  [failed('cannot execute INSERT in a read-only transaction', '25006'), 'takes no writes'],
  [failed('sorry, too many clients already', '53300'), 'max_connections'],
  [failed('Connection terminated unexpectedly', 'ECONNRESET'), 'is PostgreSQL'],
  [failed('it rains', 'XX000'), 'the log of the server says more'],
])('names the server, the setting and what to do: %s', (cause, todo) => {
  const message = told(cause)
  expect(message).toContain('PostgreSQL at db.example:6000, database deeds (KEEPUP_POSTGRES)')
  expect(message).toContain(cause.message)
  expect(message).toContain(todo)
  expect(message).not.toContain('quiet')
})

test('a connection string that is none is told without what it holds', () => {
  expect(told(new TypeError('Invalid URL'), 'postgres://ann:qu/iet#@h:x/db')).toMatch(/^KEEPUP_POSTGRES is no .*%40\)$/)
})

test('a percent sign that stands for itself in a connection string is told too', async () => {
  const config = { postgres: 'postgres://50%off:x@127.0.0.1:1/db' }
  const pool = openPool({ url: config.postgres, max: 1 })
  const asked = askingPostgres(
    config as never,
    () => {},
    () => waitForServer(pool),
  )
  await expect(asked).rejects.toMatchObject({
    code: 'POSTGRES_UNAVAILABLE',
    message: expect.stringMatching(/no connection string.*%/),
  })
  expect(postgresProblem(new URIError('URI malformed'), config)).toMatchObject({ code: 'POSTGRES_UNAVAILABLE' })
})

test('a silent server is reported as unreachable', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const url = `postgres://ann@127.0.0.1:${(silent.address() as AddressInfo).port}/db`
  const pool = openPool({ url, connectMs: 50 })
  try {
    const error = await waitForServer(pool, 1).catch((thrown: unknown) => thrown)
    const { message } = postgresProblem(error, { postgres: url }) as Error
    expect(message).toMatch(/takes connections and does not answer; see whether it hangs/)
    expect(message).not.toContain('what listens there is PostgreSQL')
  } finally {
    await pool.end()
    silent.close()
  }
})

test('an error that says what to do stays as it is', () => {
  for (const code of ['SCHEMA_NEWER', 'REFUSED'] as const) {
    const ours = new ProjectionError(code, 'do this', { cause: failed('schema "x" already exists', '42P06') })
    expect(postgresProblem(ours, { postgres: URL })).toBe(ours)
  }
  const full = new LogError('LOG_FULL', 'make room')
  expect(postgresProblem(full, { postgres: URL })).toBe(full)
})

describeWithPostgres('a PostgreSQL that cannot be used', (server) => {
  test.each([
    ['no such database', (url: string) => url.replace('/postgres?', '/nope?'), /database nope .*createdb nope/],
    ['no such user', (url: string) => url.replace('keepup@', 'stranger@'), /the user \(stranger\)/],
  ])('is reported as the server says it: %s', async (_, changed, said) => {
    const url = changed(server().url)
    const pool = openPool({ url, max: 1 })
    try {
      const asked = askingPostgres(
        { postgres: url } as never,
        () => {},
        () => pool.query('select 1'),
      )
      await expect(asked).rejects.toMatchObject({ code: 'POSTGRES_UNAVAILABLE', message: expect.stringMatching(said) })
    } finally {
      await pool.shut()
    }
  })
})
