import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connectionLost } from '../../../domain/log/connection-lost.ts'
import { openPool } from '../../../projections/postgres.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'

// What the client of PostgreSQL says in words alone bears a code here, so that nothing reads the words.

const errorOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => error)

/** Something on a port that answers the first bytes so. */
async function answering(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  return `postgres://ann@127.0.0.1:${(server.address() as AddressInfo).port}/db`
}

/** AuthenticationCleartextPassword. */
const ASKS = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])

test.each([
  ['says nothing', () => undefined, 'ETIMEDOUT', true],
  ['hangs up', (socket: Socket) => socket.end(), 'ECONNRESET', true],
  ['asks for a password that was not given', (socket: Socket) => socket.end(ASKS), '28P01', false],
])('a server that %s', async (_, answer, code, lost) => {
  const pool = openPool({ url: await answering(answer), connectMs: 100 })
  onTestFinished(() => pool.shut())
  for (const asked of [() => pool.connect(), () => pool.query('select 1')]) {
    const error = await errorOf(asked() as Promise<unknown>)
    expect(error).toMatchObject({ code })
    expect(connectionLost(error)).toBe(lost)
  }
})

describeWithSharedPostgres('a connection of PostgreSQL', (server) => {
  test('that was cut: what is asked then, and later, is known to be lost', async () => {
    const pool = openPool({ url: server().url, max: 1 })
    onTestFinished(() => pool.shut())
    const client = await pool.connect()
    const asked = errorOf(client.query('select pg_sleep(60)'))
    ;(client as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
    expect(connectionLost(await asked)).toBe(true)
    const later = await errorOf(client.query('select 1'))
    expect(later).toMatchObject({ code: 'ECONNRESET' })
    client.release(true)
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    expect(await errorOf(pool.query('select nothing'))).toMatchObject({ code: '42703' })
  })

  test('that is not free in time, and one of a pool that was ended', async () => {
    const pool = openPool({ url: server().url, max: 1, connectMs: 200 })
    const client = await pool.connect()
    const late = await errorOf(pool.query('select 1'))
    expect(late).toMatchObject({ code: 'ETIMEDOUT' })
    client.release()
    await pool.shut()
    expect(connectionLost(await errorOf(pool.query('select 1')))).toBe(false)
  })
})
