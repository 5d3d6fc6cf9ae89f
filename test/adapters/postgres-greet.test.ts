import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { greet } from '../../adapters/postgres/ask.ts'
import { openPool } from '../../projections/postgres.ts'

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
  const pool = openPool({ url: `postgres://ann@127.0.0.1:${port}/db`, connectMs: 100 })
  onTestFinished(async () => {
    await pool.end()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { pool, tried: () => sockets.size }
}

it.each([
  ['that says nothing', () => undefined],
  ['that speaks HTTP', (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('a server %s is given up within a bound', async (_, answer) => {
  const { pool, tried } = await stranger(answer)
  await expect(greet(pool, 1)).rejects.toMatchObject({
    code: 'LOG_UNAVAILABLE',
    message: expect.stringMatching(/^cannot connect to PostgreSQL: /),
  })
  expect(tried()).toBe(1)
})
