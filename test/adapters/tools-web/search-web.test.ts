import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { WebSettings } from '../../../adapters/web/settings.ts'
import { webTools } from '../../../adapters/web/web-tools.ts'
import { ToolError } from '../../../domain/calls/errors.ts'
import { RESULT_BYTES } from '../../../domain/calls/truncate.ts'
import { toolContext, type WebServer, webServer } from '../../support/network/web-server.ts'

const secret = async (name: string) => {
  if (name === 'BRAVE_SEARCH_API_KEY') return 'token-0123456789'
  throw new ToolError('SECRET_UNAVAILABLE', `there is no secret ${name}`, { beforeEffect: true })
}
const json = (res: ServerResponse, body: unknown) =>
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** Each provider with an answer of its own shape for these hits. */
const PROVIDERS = {
  searxng: {
    settings: (url: string) => ({ provider: 'searxng', url }),
    answer: (hits: { url: string; title: string; text: string }[]) => ({
      query: 'q',
      results: hits.map(({ url, title, text }) => ({ url, title, content: text, engine: 'x', publishedDate: null })),
    }),
    path: '/search?q=event+sourcing&format=json&safesearch=1',
  },
  brave: {
    settings: (url: string) => ({ provider: 'brave', url }),
    answer: (hits: { url: string; title: string; text: string }[]) => ({
      type: 'search',
      web: { results: hits.map(({ url, title, text }) => ({ url, title, description: text, page_age: '2026-01-02' })) },
    }),
    path: '/res/v1/web/search?q=event+sourcing&count=2&text_decorations=false&result_filter=web',
  },
} as const

const HITS = [
  { url: 'https://a.example/1', title: 'One', text: 'first' },
  { url: 'javascript:alert(1)', title: 'Bad', text: 'no page' },
  { url: 'https://a.example/2', title: 'Two', text: 'second' },
]

test('without a provider there is no search_web', () => {
  const names = webTools(WebSettings.parse({}), secret).map(({ spec }) => spec.name)
  expect(names).toEqual(['read_url'])
})

describe.each(Object.entries(PROVIDERS))('%s', (_, { settings, answer, path }) => {
  const toolOf = (server: WebServer) =>
    webTools(WebSettings.parse({ search: settings(server.url) }), secret).find(
      ({ spec }) => spec.name === 'search_web',
    )!
  const search = (server: WebServer, count = 2) => toolOf(server).run({ query: 'event sourcing', count }, toolContext())

  test('gives the hits that are pages, marked as untrusted', async () => {
    const server = await webServer((res) => json(res, answer(HITS)))
    const result = await search(server, 3)
    expect(result.content).toMatchObject({
      notice: expect.stringContaining('not trusted'),
      results: [
        { url: 'https://a.example/1', title: 'One', snippet: 'first' },
        { url: 'https://a.example/2', title: 'Two', snippet: 'second' },
      ],
    })
    expect(result.detail).toMatchObject({ untrusted: 'web', hits: 2 })
  })

  test('is asked as its API says, with the token in a header only', async () => {
    const server = await webServer((res) => json(res, answer([])))
    expect((await search(server)).content).toMatchObject({ results: [] })
    expect(server.asked).toEqual([path])
    const token = server.headers[0]?.['x-subscription-token']
    expect(token).toBe(path.startsWith('/res') ? 'token-0123456789' : undefined)
  })

  test('with twenty hits of megabytes gives what a model can be shown', async () => {
    const long = { url: `https://a.example/${'u'.repeat(400)}`, title: 'T'.repeat(9_000), text: 's'.repeat(9_000) }
    const server = await webServer((res) => json(res, answer(Array(30).fill(long))))
    const { content } = await search(server, 20)
    expect((content as { results: unknown[] }).results).toHaveLength(20)
    expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThan(RESULT_BYTES)
  })

  test.each<[string, (res: ServerResponse) => void, object]>([
    ['429', (res) => res.writeHead(429, { 'retry-after': '7' }).end(), { code: 'RATE_LIMITED', transient: true }],
    ['503', (res) => res.writeHead(503).end(), { code: 'EXECUTION_FAILED', transient: true }],
    ['401', (res) => res.writeHead(401).end(), { code: 'EXECUTION_FAILED', transient: false }],
    ['a redirect', (res) => res.writeHead(302, { location: 'http://x.test/' }).end(), { code: 'EXECUTION_FAILED' }],
    ['no JSON', (res) => res.end('<html>'), { code: 'EXECUTION_FAILED', transient: false }],
    ['another shape', (res) => json(res, { results: 7, web: 7 }), { code: 'EXECUTION_FAILED', transient: false }],
    ['nesting', (res) => res.end('['.repeat(100_000)), { code: 'EXECUTION_FAILED', transient: false }],
    ['a broken connection', (res) => res.destroy(), { code: 'EXECUTION_FAILED', transient: true }],
    [
      'an endless answer',
      (res) => {
        const more = () => {
          while (res.write(Buffer.alloc(64 * 1024, ' '))) if (res.destroyed) return
        }
        res.on('drain', more)
        more()
      },
      { code: 'EXECUTION_FAILED', transient: false },
    ],
  ])('that answers with %s is a failure', async (_, misbehave, expected) => {
    const server = await webServer(misbehave)
    const failure = await search(server).catch((error) => error)
    expect(failure).toMatchObject({ name: 'ToolError', ...expected })
    expect(failure.message).not.toContain('token-0123456789')
    expect(server.asked).toHaveLength(1)
  })

  test('is given up with the reason of an abort', async () => {
    const ending = new AbortController()
    const server = await webServer(() => ending.abort(new Error('cancelled by a person')))
    const searching = toolOf(server).run({ query: 'x' }, toolContext({ signal: ending.signal }))
    await expect(searching).rejects.toThrow('cancelled by a person')
  })
})

test('a token that cannot be had is told by its name', async () => {
  const settings = WebSettings.parse({ search: { provider: 'brave', key: 'OTHER' } })
  const failure = await webTools(settings, secret)[1]
    ?.run({ query: 'x' }, toolContext())
    .catch((error) => error)
  expect(failure).toMatchObject({ code: 'SECRET_UNAVAILABLE', message: 'there is no secret OTHER' })
})

test.each([
  [{ search: { provider: 'bing' } }, 'search.provider'],
  [{ search: { provider: 'searxng' } }, 'search.url'],
  [{ search: { provider: 'searxng', url: 'file:///etc' } }, 'search.url'],
  [{ read: { allow: ['intranet'] } }, 'read.allow.0'],
  [{ read: { maxBytes: 0 } }, 'read.maxBytes'],
])('settings %o are refused at %s', (settings, path) => {
  expect(WebSettings.safeParse(settings).error?.issues[0]?.path.join('.')).toBe(path)
})
