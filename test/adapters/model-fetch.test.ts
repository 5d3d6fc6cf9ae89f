import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anthropicProvider } from '../../adapters/models/anthropic/provider.ts'
import { openaiProvider } from '../../adapters/models/openai/provider.ts'
import { createModels } from '../../adapters/models/registry.ts'
import { failure, request } from '../support/models/model-request.ts'
import { delta, finish, writeChunks } from '../support/models/openai-wire.ts'
import { beginStream, type Loopback, loopback } from '../support/network/loopback.ts'

const KEY = 'sk-very-secret-0123456789'

async function serve(answer: (res: ServerResponse) => void): Promise<Loopback> {
  const server = await loopback(answer)
  onTestFinished(() => server.close())
  return server
}

const providers = {
  anthropic: (url: string) => anthropicProvider({ apiKey: KEY, baseUrl: url }),
  openai: (url: string) => openaiProvider({ apiKey: KEY, baseUrl: `${url}/v1` }),
}

describe.each(Object.entries(providers))('%s', (_, connect) => {
  test('a redirect is reported and not followed: no request, and so no key, reaches the other host', async () => {
    const asked: string[] = []
    const other = createServer((req, res) => {
      asked.push(JSON.stringify(req.headers))
      res.end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const host = `localhost:${(other.address() as AddressInfo).port}`
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await serve((res) => res.writeHead(status, { location: `http://${host}/${KEY}` }).end())
      const failed = await failure(connect(server.url))
      expect(failed).toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringContaining(`redirects to ${host},`),
      })
      expect(failed.message).not.toContain(KEY)
    }
    expect(asked).toEqual([])
  })

  test('an answer of headers alone is refused', async () => {
    const server = await serve((res) => {
      beginStream(res)
      res.end()
    })
    expect(await failure(connect(server.url))).toMatchObject({ code: 'NETWORK', transient: true })
  })
})

describe('the base URL', () => {
  const models = (OPENAI_BASE_URL: string) => createModels({ env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL } })

  test.each(['/v1', '/v1/'])('may end in %s', async (end) => {
    const server = await serve((res) => {
      beginStream(res)
      writeChunks(res, [delta({ content: 'Hello.' }), finish('stop')])
      res.end()
    })
    const signal = new AbortController().signal
    await models(server.url + end)
      .provider('openai:m')
      .call(request({ model: 'openai:m' }), { signal })
    expect(server.got[0]!.path).toBe('/v1/chat/completions')
  })

  test('without /v1 is hinted at where nothing is found', async () => {
    const server = await serve((res) => res.writeHead(404).end('Not Found'))
    const asked = (url: string) => failure(models(url).provider('openai:m'))
    expect((await asked(server.url)).message).toContain('usually ends in /v1')
    expect((await asked(`${server.url}/v1`)).message).not.toContain('usually')
  })

  test.each([
    'http://ann:secret-pass@h/v1',
    'http://h/v1?key=secret-pass',
    'http://h/v1#secret-pass',
    'ftp://h',
    'h:80',
  ])('%s is refused, and not shown', (url) => {
    expect(() => models(url).provider('openai:m')).toThrow(/^OPENAI_BASE_URL must be an http\(s\) URL(?!.*secret-pass)/)
  })
})
