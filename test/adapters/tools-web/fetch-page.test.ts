import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { addressRule } from '../../../adapters/web/addresses.ts'
import { systemResolve } from '../../../adapters/web/connection.ts'
import { type FetchLimits, fetchPage } from '../../../adapters/web/fetch-page.ts'
import { webServer } from '../../support/network/web-server.ts'

const LIMITS: FetchLimits = { timeMs: 20_000, maxBytes: 1_000_000, maxRedirects: 5 }

const read = (url: string, limits: Partial<FetchLimits> = {}, signal = new AbortController().signal) =>
  fetchPage(
    new URL(url),
    {
      mayConnect: addressRule(['127.0.0.1']),
      resolve: systemResolve,
      limits: { ...LIMITS, ...limits },
      userAgent: 'test-agent',
    },
    signal,
  )
const refused = (url: string, limits: Partial<FetchLimits> = {}) => read(url, limits).catch((error) => error)
const text = (res: ServerResponse, body: string | Buffer, headers: Record<string, string> = {}) =>
  res.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body)

test('a page is read with its type and charset, by a request that names its sender and carries no credentials', async () => {
  const server = await webServer((res) => text(res, 'hello'))
  const page = await read(`${server.url}/a?b=c#d`)
  expect(page).toMatchObject({ status: 200, mediaType: 'text/plain', charset: 'utf-8' })
  expect(Buffer.from(page.bytes).toString()).toBe('hello')
  expect(server.asked).toEqual(['/a?b=c'])
  expect(server.headers[0]).toMatchObject({ host: `127.0.0.1:${server.port}`, 'user-agent': 'test-agent' })
  expect(Object.keys(server.headers[0] ?? {})).not.toEqual(expect.arrayContaining(['cookie', 'authorization']))
})

describe('redirects', () => {
  test.each([
    'http://169.254.169.254/latest/meta-data/iam/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://127.0.0.2/',
    '//10.0.0.1/',
    'http://[fd00:ec2::254]/',
  ])('to %s are refused before a connection', async (location) => {
    const server = await webServer((res) => res.writeHead(302, { location }).end())
    expect(await refused(server.url)).toMatchObject({ code: 'SANDBOX_VIOLATION', transient: false })
  })

  test.each(['file:///etc/passwd', 'ftp://example.org/', 'http://user:pw@example.org/', 'http://example.org:25/'])(
    'to %s are refused',
    async (location) => {
      const server = await webServer((res) => res.writeHead(301, { location }).end())
      expect(await refused(server.url)).toMatchObject({ code: 'INVALID_ARGUMENTS', transient: false })
    },
  )

  test('are followed up to the limit and no further', async () => {
    const server = await webServer((res, req) => {
      const left = Number(req.url?.slice(1))
      if (left === 0) text(res, 'arrived')
      else res.writeHead(307, { location: `/${left - 1}` }).end()
    })
    expect(Buffer.from((await read(`${server.url}/5`)).bytes).toString()).toBe('arrived')
    expect(await refused(`${server.url}/1000`)).toMatchObject({ code: 'EXECUTION_FAILED', transient: false })
    expect(server.asked.filter((path) => Number(path.slice(1)) > 900)).toHaveLength(6)
  })

  test('to an address of megabytes are refused', async () => {
    const server = await webServer((res) => res.writeHead(302, { location: `/${'x'.repeat(10_000)}` }).end())
    expect(await refused(server.url)).toMatchObject({ code: 'EXECUTION_FAILED' })
  })
})

describe('a body', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('in %s is decoded, and one that grows beyond the limit is given up', async (encoding, compress) => {
    const small = await webServer((res) => text(res, compress('hello'), { 'content-encoding': encoding }))
    expect(Buffer.from((await read(small.url)).bytes).toString()).toBe('hello')
    const bomb = compress(Buffer.alloc(50_000_000))
    expect(bomb.length).toBeLessThan(100_000)
    const server = await webServer((res) => text(res, bomb, { 'content-encoding': encoding }))
    expect(await refused(server.url)).toMatchObject({
      code: 'EXECUTION_FAILED',
      message: expect.stringContaining('larger than the limit of 1000000 bytes'),
    })
  })

  test('that says that it is too large is not read at all', async () => {
    const server = await webServer((res) => res.writeHead(200, { 'content-length': '2000000' }).write('x'))
    expect(await refused(server.url)).toMatchObject({ message: expect.stringContaining('larger than') })
  })

  test.each([{}, { 'content-encoding': 'gzip' }])('without an end is given up at the limit (%o)', async (headers) => {
    // Empty stored blocks: a compressed stream that never gives a byte.
    const block =
      'content-encoding' in headers ? Buffer.from('0000 00ff ff'.repeat(10_000).replaceAll(' ', ''), 'hex') : null
    const server = await webServer((res) => {
      res.writeHead(200, headers)
      if (block !== null) res.write(Buffer.from('1f8b0800000000000003', 'hex'))
      const more = () => {
        while (res.write(block ?? Buffer.alloc(64 * 1024, 'x'))) if (res.destroyed) return
      }
      res.on('drain', more)
      more()
    })
    expect(await refused(server.url)).toMatchObject({ message: expect.stringContaining('larger than') })
  })

  test('that is damaged, breaks off or has an unknown encoding is a failure', async () => {
    const damaged = await webServer((res) => text(res, 'no gzip', { 'content-encoding': 'gzip' }))
    expect(await refused(damaged.url)).toMatchObject({ code: 'EXECUTION_FAILED', transient: false })
    const broken = await webServer((res) => {
      res.writeHead(200, { 'content-length': '100' })
      res.write('x', () => res.destroy())
    })
    expect(await refused(broken.url)).toMatchObject({ code: 'EXECUTION_FAILED', transient: true, beforeEffect: false })
    const unknown = await webServer((res) => text(res, 'x', { 'content-encoding': 'rot13' }))
    expect(await refused(unknown.url)).toMatchObject({ code: 'EXECUTION_FAILED', transient: false })
  })
})

describe('time', () => {
  test('a server that sends nothing, or a byte now and then, is given up at the limit', async () => {
    const silent = await webServer(() => {})
    expect(await refused(silent.url, { timeMs: 200 })).toMatchObject({ code: 'TIMEOUT', transient: true })
    const slow = await webServer((res) => {
      res.writeHead(200, { 'content-type': 'text/plain' })
      const timer = setInterval(() => res.write('x'), 20)
      res.on('close', () => clearInterval(timer))
    })
    expect(await refused(slow.url, { timeMs: 300 })).toMatchObject({ code: 'TIMEOUT', transient: true })
  })

  test('an abort ends the request with its own reason', async () => {
    const ending = new AbortController()
    const server = await webServer(() => ending.abort(new Error('cancelled by a person')))
    await expect(read(server.url, {}, ending.signal)).rejects.toThrow('cancelled by a person')
  })
})

describe('failures', () => {
  test.each([
    [404, 'RESOURCE_NOT_FOUND', false],
    [410, 'RESOURCE_NOT_FOUND', false],
    [401, 'EXECUTION_FAILED', false],
    [403, 'EXECUTION_FAILED', false],
    [429, 'RATE_LIMITED', true],
    [500, 'EXECUTION_FAILED', true],
    [503, 'EXECUTION_FAILED', true],
    [304, 'EXECUTION_FAILED', false],
  ])('HTTP %i is %s, transient: %s', async (status, code, transient) => {
    const server = await webServer((res) => res.writeHead(status).end())
    expect(await refused(server.url)).toMatchObject({ name: 'ToolError', code, transient })
  })

  test('a refused connection is transient and before any effect', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    const failure = await refused(`http://127.0.0.1:${port}/`)
    expect(failure).toMatchObject({ code: 'EXECUTION_FAILED', transient: true, beforeEffect: true })
  })

  test('what does not speak HTTP, or speaks it without end, is a failure', async () => {
    for (const answer of ['SSH-2.0-OpenSSH\r\n', `HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(20_000)}\r\n`]) {
      const server = createServer((socket) => {
        socket.on('error', () => {})
        socket.write(answer)
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await new Promise((resolve) => server.once('listening', resolve))
      const { port } = server.address() as { port: number }
      expect(await refused(`http://127.0.0.1:${port}/`)).toMatchObject({ code: 'EXECUTION_FAILED', transient: false })
    }
  })
})
