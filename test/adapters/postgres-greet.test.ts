import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { greet } from '../../adapters/postgres/greet.ts'

/** Something on a port that is no PostgreSQL. */
async function stranger(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.once('data', () => answer(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `postgres://ann:quiet@127.0.0.1:${port}/db`
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 100 })
  pool.on('error', () => undefined)
  onTestFinished(async () => {
    await pool.end()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { pool, url, address: `127.0.0.1:${port}`, tried: () => sockets.size }
}

it.each([
  ['that says nothing', () => undefined],
  ['that speaks HTTP', (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('a server %s is given up within a bound, by its address and without a password', async (_, answer) => {
  const { pool, url, address, tried } = await stranger(answer)
  const said: string[] = []
  const greeted = greet(pool, { url, onWait: (text) => said.push(text), toldAfterMs: 0, withinMs: 1 })
  const error: Error = await greeted.then(
    () => new Error('greeted'),
    (refused) => refused,
  )
  expect(error).toMatchObject({ code: 'LOG_UNAVAILABLE' })
  expect(error.message).toMatch(`cannot connect to PostgreSQL at ${address}: `)
  expect(said).toEqual([`PostgreSQL at ${address} does not answer yet; it is waited for, 1 s at most`])
  expect(error.message).not.toContain('quiet')
  expect(tried()).toBe(1)
})
