import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test as base, expect } from 'vitest'
import { draws } from '../support/faults/seed.ts'
import { type Fault, FaultProxy } from '../support/network/fault-proxy.ts'
import { drawFault } from '../support/network/fault-schedule.ts'

/** A client behind the proxy of a server that sends everything back. */
async function world() {
  const heard: Buffer[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        heard.push(bytes)
        socket.write(bytes)
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = new FaultProxy({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  const port = await proxy.listen()
  const direct = (server.address() as AddressInfo).port
  const dial = (to = port) => {
    const socket = connect({ port: to, host: '127.0.0.1', noDelay: true })
    sockets.push(socket)
    const got: Buffer[] = []
    const client = {
      socket,
      got: () => Buffer.concat(got).toString(),
      closed: new Promise<string>((resolve) => {
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
        socket.once('close', () => resolve('closed'))
      }),
      has: (text: string) => expect.poll(() => Buffer.concat(got).toString()).toBe(text),
    }
    socket.on('data', (bytes: Buffer) => got.push(bytes))
    return client
  }
  const end = () => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
    server.close()
  }
  return { proxy, dial, direct, end, heard: () => Buffer.concat(heard).toString() }
}

const test = base.extend<{ w: Awaited<ReturnType<typeof world>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern
  w: async ({}, use) => {
    const made = await world()
    await use(made)
    made.end()
  },
})

const fault = (kind: Fault['kind'], direction: Fault['direction'] = 'up', amount = 0): Fault => ({
  kind,
  direction,
  amount,
})

test('bytes pass both ways, and the end of a connection too', async ({ w }) => {
  const client = w.dial()
  client.socket.write('whole')
  await client.has('whole')
  client.socket.end()
  expect(await client.closed).toBe('closed')
  await expect.poll(() => w.proxy.open).toBe(0)
})

test('a connection is reset after the limit, in the middle of what it sends, and the next one is not', async ({
  w,
}) => {
  w.proxy.apply(fault('limit', 'up', 4))
  const first = w.dial()
  first.socket.write('abcdefgh')
  expect(await first.closed).toBe('ECONNRESET')
  await expect.poll(w.heard).toBe('abcd')
  const second = w.dial()
  second.socket.write('ijkl')
  await second.has('ijkl')
})

test('a limit of the answers lets the request through', async ({ w }) => {
  w.proxy.apply(fault('limit', 'down', 3))
  const client = w.dial()
  client.socket.write('abcdefgh')
  await client.closed
  expect([w.heard(), client.got().length]).toEqual(['abcdefgh', expect.toSatisfy((n: number) => n <= 3)])
})

test('stalled bytes arrive when the network works again, lost ones never do', async ({ w }) => {
  const [stalled, other] = [w.dial(), w.dial()]
  for (const one of [stalled, other]) {
    one.socket.write('a')
    await one.has('a')
  }
  w.proxy.apply(fault('stall', 'down'))
  stalled.socket.write('b')
  await expect.poll(w.heard).toBe('aab')
  expect(stalled.got()).toBe('a')
  w.proxy.heal()
  await stalled.has('ab')
  w.proxy.apply(fault('silence', 'down'))
  other.socket.write('c')
  await expect.poll(w.heard).toBe('aabc')
  w.proxy.heal()
  other.socket.write('d')
  await expect.poll(w.heard).toBe('aabcd')
  stalled.socket.write('e')
  await stalled.has('abe')
  expect(other.got()).toBe('a')
})

test('a silent server accepts connections', async ({ w }) => {
  w.proxy.apply(fault('silence', 'up'))
  const client = w.dial()
  client.socket.write('a')
  await expect.poll(() => w.proxy.open).toBe(1)
  w.proxy.heal()
  const next = w.dial()
  next.socket.write('b')
  await next.has('b')
  expect([w.heard(), client.got()]).toEqual(['b', ''])
})

test('delayed bytes arrive late and in order', async ({ w }) => {
  const client = w.dial()
  w.proxy.apply(fault('delay', 'up', 3_600_000))
  client.socket.write('a')
  await expect.poll(() => w.proxy.open).toBe(1)
  const other = w.dial(w.direct)
  other.socket.write('x')
  await other.has('x')
  expect(w.heard()).toBe('x')
  w.proxy.apply(fault('delay', 'up', 0))
  client.socket.write('b')
  await expect.poll(w.heard).toBe('xab')
})

test('connections are cut, reset and refused', async ({ w }) => {
  for (const [kind, told] of [
    ['cut', 'closed'],
    ['reset', 'ECONNRESET'],
  ] as const) {
    const client = w.dial()
    client.socket.write('a')
    await client.has('a')
    w.proxy.apply(fault(kind))
    expect([kind, await client.closed]).toEqual([kind, told])
  }
  w.proxy.apply(fault('refuse'))
  expect(await w.dial().closed).toBe('ECONNRESET')
  w.proxy.heal()
  const client = w.dial()
  client.socket.write('a')
  await client.has('a')
})

test('a seed draws the same faults again, of every kind', () => {
  const drawn = (seed: number) => {
    const draw = draws(seed)
    return Array.from({ length: 200 }, () => drawFault(draw, 6))
  }
  expect(drawn(7)).toEqual(drawn(7))
  expect(drawn(7)).not.toEqual(drawn(8))
  expect(new Set(drawn(7).map(({ kind, direction }) => `${kind} ${direction}`)).size).toBe(14)
})
