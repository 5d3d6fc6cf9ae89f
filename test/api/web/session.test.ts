import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { readPage } from '../../../api/http/page/page-files.ts'
import { EndedSessions } from '../../../api/http/sessions/ended-sessions.ts'
import { CODE_MS, SESSION_MS, WebSessions } from '../../../api/http/sessions/web-sessions.ts'
import { bodyOf, openWorld, TOKEN } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, http } = world

const HOST = '127.0.0.1:7433'
const ORIGIN = `http://${HOST}`
const send = (method: string, path: string, headers: Record<string, string> = {}) =>
  http.request(`${ORIGIN}${path}`, { method, headers: { host: HOST, ...headers } })

const made = async () => {
  const answer = await ask('POST', '/v1/session/codes', { body: { by: 'ada' } })
  return (await bodyOf<{ code: string }>(answer)).code
}
const exchange = (code: string, more: Record<string, string> = {}) =>
  send('POST', '/v1/session', { authorization: `Keepup-Code ${code}`, origin: ORIGIN, ...more })

/** The headers that the page of a browser with a session sends. */
async function session() {
  const answer = await exchange(await made())
  const { key } = await bodyOf<{ key: string }>(answer)
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!
  return { cookie, 'keepup-session': key, 'sec-fetch-site': 'same-origin' }
}

const ANYONE = { by: null, principal: null, key: null }

describe('a code', () => {
  it('is exchanged for a cookie that no script can read, and a key beside it', async () => {
    const answer = await exchange(await made())
    expect(answer.status).toBe(200)
    expect(answer.headers.get('set-cookie')).toMatch(
      /^keepup_7433=\d+\.[\w-]+\.[\w-]+\.[\w-]+; Path=\/v1; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    )
    expect(await bodyOf(answer)).toMatchObject({ by: 'ada', key: expect.stringMatching(/^[\w-]{43}$/) })
  })

  it('is exchanged once', async () => {
    const code = await made()
    expect((await exchange(code)).status).toBe(200)
    const again = await exchange(code)
    expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null])
    expect((await bodyOf<{ detail: string }>(again)).detail).toContain('keepup open')
  })

  it('is only for holders of the token: no session makes another', async () => {
    const body = JSON.stringify({})
    const headers = { ...(await session()), host: HOST, 'content-type': 'application/json' }
    const answer = await http.request(`${ORIGIN}/v1/session/codes`, { method: 'POST', headers, body })
    expect(answer.status).toBe(401)
  })

  it('expires in a minute, and of too many the oldest goes', () => {
    let now = 1_000
    let drawn = 0
    const bytes = (n: number) => new Uint8Array(n).fill(++drawn)
    const clock = { now: () => now } as never
    const sessions = new WebSessions({
      ended: new EndedSessions(null, 0),
      token: () => TOKEN,
      random: { bytes },
      clock,
    })
    const [early, late] = [sessions.code(ANYONE), sessions.code(ANYONE)]
    now += CODE_MS
    expect(sessions.exchange(early.code)).not.toBeNull()
    now += 1
    expect(sessions.exchange(late.code)).toBeNull()
    const codes = Array.from({ length: 33 }, () => sessions.code(ANYONE).code)
    expect(sessions.exchange(codes[0]!)).toBeNull()
    expect(sessions.exchange(codes[1]!)).not.toBeNull()
  })
})

describe('a session', () => {
  it('that a person has ended is ended on the server, also after a restart', async () => {
    const [first, second] = [await session(), await session()]
    expect((await send('DELETE', '/v1/session', first)).status).toBe(204)
    expect((await send('GET', '/v1/runs', first)).status).toBe(401)
    expect((await send('GET', '/v1/runs', second)).status).toBe(200)
    const folder = mkdtempSync(join(tmpdir(), 'keepup-sessions-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'ended-sessions')
    const around = (now: number) => ({
      ended: new EndedSessions(file, now),
      token: () => TOKEN,
      random: { bytes: (n: number) => new Uint8Array(n) },
      clock: { now: () => now } as never,
    })
    const before = new WebSessions(around(1_000))
    const { cookie, key } = before.exchange(before.code(ANYONE).code)!
    expect([before.end(cookie, 'another'), before.end(cookie, key), before.end(cookie, key)]).toEqual([
      false,
      true,
      false,
    ])
    expect(new WebSessions(around(2_000)).holder(cookie, key)).toBeNull()
    expect(statSync(file)).toMatchObject({ size: expect.any(Number), mode: 0o100600 })
    // An expired session leaves the file.
    new EndedSessions(file, 1_000 + SESSION_MS)
    expect(readFileSync(file, 'utf8')).toBe('')
  })

  it('opens what the token opens', async () => {
    expect((await send('GET', '/v1/runs', await session())).status).toBe(200)
  })

  it('outlives the process, and ends with its time, with the token, and with any change of its halves', () => {
    let now = 1_000
    let token = TOKEN
    const around = () => ({
      ended: new EndedSessions(null, 0),
      token: () => token,
      random: { bytes: (n: number) => new Uint8Array(n) },
      clock: { now: () => now } as never,
    })
    const first = new WebSessions(around())
    const { cookie, key } = first.exchange(first.code(ANYONE).code)!
    const holds = (a = cookie, b = key) => new WebSessions(around()).holder(a, b) !== null
    expect(holds()).toBe(true)
    const later = cookie.replace(/^\d+/, (n) => String(Number(n) + 1))
    expect([holds(later), holds(`${cookie}x`), holds(cookie, `${key}x`), holds(key, cookie), holds('', '')]).toEqual(
      Array(5).fill(false),
    )
    now += SESSION_MS
    expect(holds()).toBe(true)
    now += 1
    expect(holds()).toBe(false)
    now = 1_000
    token = `${TOKEN}2`
    expect(holds()).toBe(false)
  })

  it('is found beside cookies of the same name that another program of the host has set', async () => {
    const { cookie, ...rest } = await session()
    const name = cookie.split('=')[0]!
    const tossed = `${name}=1.x.y; other=1; ${cookie}; ${name}=`
    expect((await send('GET', '/v1/runs', { ...rest, cookie: tossed })).status).toBe(200)
  })
})

// A browser adds the cookie to requests of other pages of this host, whatever their port; never the key.
describe('requests of other pages', () => {
  const attacks: [string, number, (good: Record<string, string>) => Record<string, string>][] = [
    ['the cookie alone', 401, ({ cookie }) => ({ cookie: cookie! })],
    ['the key alone', 401, (good) => ({ 'keepup-session': good['keepup-session']! })],
    ['a page of another site', 403, (good) => ({ ...good, 'sec-fetch-site': 'cross-site' })],
    ['a page of another port of this host', 403, (good) => ({ ...good, 'sec-fetch-site': 'same-site' })],
    ['a page of no origin', 403, (good) => ({ ...good, 'sec-fetch-site': 'none' })],
    ['the origin of another port', 403, (good) => ({ ...good, origin: 'http://127.0.0.1:8080' })],
    ['the origin of another name of loopback', 403, (good) => ({ ...good, origin: 'http://localhost:7433' })],
    ['a foreign origin', 403, (good) => ({ ...good, origin: 'https://evil.example' })],
    ['the origin null, of a sandboxed frame', 403, (good) => ({ ...good, origin: 'null' })],
    ['an origin that is no URL', 403, (good) => ({ ...good, origin: 'x' })],
    ['a rebound name', 403, (good) => ({ ...good, host: 'evil.example:7433' })],
    ['a rebound name below ours', 403, (good) => ({ ...good, host: '127.0.0.1.evil.example:7433' })],
    [
      'a cookie of another server of this host',
      401,
      (good) => ({ ...good, cookie: good.cookie!.replace('7433', '7434') }),
    ],
    ['a forged cookie', 401, (good) => ({ ...good, cookie: `keepup_7433=9999999999999.x.${'y'.repeat(43)}` })],
    ['a wrong token beside the session', 401, (good) => ({ ...good, authorization: 'Bearer x' })],
  ]
  const doors: [string, string][] = [
    ['GET', '/v1/runs'],
    ['GET', '/v1/events'],
    ['POST', '/v1/runs'],
  ]
  it.each(attacks)('%s', async (_, status, attack) => {
    const headers = attack(await session())
    for (const [method, path] of doors) {
      const answer = await send(method, path, headers)
      expect([method, path, answer.status]).toEqual([method, path, status])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  it.each([{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }])(
    'exchange no code: %o',
    async (more) => {
      const code = await made()
      expect((await exchange(code, more)).status).toBe(403)
      expect((await exchange(code)).status).toBe(200)
    },
  )
})

describe('the page', () => {
  it('is given without a token, with a policy that runs no text and allows no frame', async () => {
    expect(readPage().size, 'build the page first: npm run build:web').toBeGreaterThan(2)
    for (const path of ['/', '/runs/abc', '/inbox']) {
      const answer = await send('GET', path, { accept: 'text/html' })
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
      const policy = answer.headers.get('content-security-policy')!
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      // WebAssembly of this origin runs, no text does.
      expect(policy.replace("'wasm-unsafe-eval'", '')).not.toMatch(/unsafe|\*|https?:/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    }
  })

  it('is no reason to answer what is not the page', async () => {
    expect((await send('GET', '/assets/../../../package.json')).status).toBe(401)
    expect((await send('GET', '/nowhere')).status).toBe(401)
    expect((await send('GET', '/v1/runs', { accept: 'text/html' })).status).toBe(401)
    expect((await send('POST', '/', { accept: 'text/html' })).status).toBe(401)
  })

  it('loads nothing from another host', () => {
    for (const [path, { plain }] of readPage()) {
      // WebAssembly loads nothing by itself. Loro's has addresses in the texts of its errors.
      if (path.endsWith('.wasm')) continue
      const named = plain.toString('utf8').match(/https?:\/\/[\w.-]+/g) ?? []
      // A namespace, authors of libraries, and links in the guide: names, from which nothing is loaded.
      const ours =
        /^(?:http:\/\/www\.w3\.org|https?:\/\/json-schema\.org|https:\/\/(?:github\.com|feross\.org|c2sp\.org|prosemirror\.net|HOST))$/
      expect([path, named.filter((one) => !ours.test(one))]).toEqual([path, []])
    }
  })

  it('sends at most 96 KB before the first screen, and at most 40 KB for a part that loads later, but the editor', () => {
    const page = readPage()
    const start = page.get('/')!.plain.toString()
    const isFirst = (path: string) => path === '/' || start.includes(path) || path.includes('/feed-worker-')
    const sizes = [...page].map(([path, { gzip }]) => ({ path, isFirst: isFirst(path), size: gzip.length }))
    const first = sizes.filter((one) => one.isFirst).reduce((sum, { size }) => sum + size, 0)
    expect(first).toBeGreaterThan(50 * 1024)
    expect(first).toBeLessThanOrEqual(96 * 1024)
    // Nobody who only reads loads the editor of documents: ProseMirror, Loro, and Loro's code for WebAssembly.
    const isEditor = (path: string) => /^\/assets\/(?:shared-document|editor|restore|loro_wasm_bg)-/.test(path)
    expect(sizes.filter(({ path, size }) => size > 40 * 1024 && !isEditor(path))).toEqual([])
    const editor = sizes.filter(({ path }) => isEditor(path)).reduce((sum, { size }) => sum + size, 0)
    expect(editor).toBeGreaterThan(1024 * 1024)
    expect(editor).toBeLessThanOrEqual(1536 * 1024)
  })

  it('puts headers on every answer of the API that keep it from being taken for a page', async () => {
    for (const path of ['/v1/runs', '/v1/nothing', '/v1/openapi.json']) {
      const { headers } = await ask('GET', path)
      expect([headers.get('x-content-type-options'), headers.get('x-frame-options')]).toEqual(['nosniff', 'DENY'])
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
  })
})
