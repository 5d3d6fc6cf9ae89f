import { createHash } from 'node:crypto'
import { Events, type MutableToken } from 'oauth2-mock-server'
import { afterAll, describe, expect, it } from 'vitest'
import { LOGIN_MS, LoginCookies } from '../../../../api/http/sessions/login-cookies.ts'
import { SESSION_MS } from '../../../../api/http/sessions/web-sessions.ts'
import { bodyOf, openWorld } from '../../support/http.ts'
import { type AccessWorld, CLIENT, openAccess, ROLES_OF_GROUPS, startIssuer } from '../../support/issuer.ts'

// People sign in to the page at their issuer. The honest login in a browser is in test/web/access/login.test.ts.

const issuer = await startIssuer()
const { server, now } = issuer
const oidc = { issuer: issuer.issuer, clientId: CLIENT, roles: ROLES_OF_GROUPS }
const world = await openAccess({ oidc }, { heartbeatMs: 200 })
afterAll(async () => {
  await world.close()
  await server.stop()
})
const { admin, facts, failures } = world

/** A browser at the address localhost:7433: it keeps cookies, and follows no redirect by itself. */
class Browser {
  readonly cookies = new Map<string, string>()
  readonly #world: AccessWorld
  constructor(of = world) {
    this.#world = of
  }

  async send(method: string, path: string, headers: object = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const all = { ...(cookie !== '' && { cookie }), ...headers }
    const answer = await this.#world.send(null, method, path, { headers: { host: 'localhost:7433', ...all } })
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split(/=(.*)/)
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return answer
  }

  /** Where an answer sends this browser. */
  async follow(path: string): Promise<string> {
    const answer = await this.send('GET', path)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'no-store'])
    return answer.headers.get('location')!
  }

  /** Begins a login, and returns the path to which the issuer sends the browser back. */
  async throughIssuer(): Promise<string> {
    const there = await this.follow('/v1/session/oidc')
    const back = (await fetch(there, { redirect: 'manual' })).headers.get('location')!
    expect(back).toMatch(/^http:\/\/localhost:7433\/v1\/session\/oidc\/callback\?/)
    return back.slice('http://localhost:7433'.length)
  }

  /** Exchanges the code in a link for a session. Returns the headers of its requests. */
  async exchange(link: string) {
    const code = /^\/#code=([\w-]{43})$/.exec(link)?.[1]
    const answer = await this.send('POST', '/v1/session', { authorization: `Keepup-Code ${code}` })
    const { key, expiresAt } = await bodyOf<{ key: string; expiresAt: string }>(answer)
    return { headers: { 'keepup-session': key }, expiresAt: Date.parse(expiresAt), answer }
  }

  /** Signs a person in. */
  async signIn(claims: object = {}) {
    says(claims)
    return this.exchange(await this.follow(await this.throughIssuer()))
  }
}

/** Changes the next ID token. */
function says(claims: object, header: object = {}): void {
  server.service.once(Events.BeforeTokenSigning, () => {
    // The access token comes first.
    server.service.once(Events.BeforeTokenSigning, (token: MutableToken) => {
      Object.assign(token.payload, { groups: ['auditors'], ...claims })
      Object.assign(token.header, header)
    })
  })
}

/** Replaces the ID token in the next answer. */
const gives = (change: (token: string) => string) =>
  server.service.once(Events.BeforeResponse, (answer) => {
    const body = answer.body as Record<string, unknown>
    body.id_token = change(body.id_token as string)
  })

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a login', () => {
  it('asks for a code with PKCE, state and nonce, and keeps them from scripts and other sites', async () => {
    const browser = new Browser()
    const answer = await browser.send('GET', '/v1/session/oidc')
    const { origin, pathname, searchParams } = new URL(answer.headers.get('location')!)
    expect(origin + pathname).toBe(`${issuer.issuer}/authorize`)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: CLIENT, code_challenge_method: 'S256', scope: 'openid profile email' },
      redirect_uri: 'http://localhost:7433/v1/session/oidc/callback',
      ...{ state: expect.stringMatching(/^[\w-]{43}$/), nonce: expect.stringMatching(/^[\w-]{43}$/) },
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    })
    const [cookie] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^keepup_7433_login=[\w-]+; Path=\/v1\/session\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/)
    // The cookie is encrypted: what the issuer was told is not in it.
    const value = Buffer.from(cookie!.split(/[=;]/)[1]!, 'base64url').toString('latin1')
    expect(value).not.toContain(searchParams.get('state'))
  })

  it('opens a session with the rights of its roles, which the log has', async () => {
    const browser = new Browser()
    const { headers } = await browser.signIn({ sub: 'p-1', preferred_username: 'Dora', name: 'Dora Day' })
    const me = await bodyOf<{ principal: string }>(await browser.send('GET', '/v1/access/me', headers))
    expect(me).toMatchObject({ principal: 'dora', key: null })
    expect((await browser.send('GET', '/v1/access/principals', headers)).status).toBe(200)
    expect((await browser.send('GET', '/v1/secrets', headers)).status).toBe(403)
    const found = (await facts('principal_added', 'roles_claimed', 'signed_in')).filter(
      (one) => one.principal === 'dora',
    )
    expect(found).toMatchObject([
      { type: 'principal_added', kind: 'person', name: 'Dora Day', subject: { issuer: issuer.issuer, subject: 'p-1' } },
      { type: 'roles_claimed', issuer: issuer.issuer, audience: CLIENT, roles: ['auditor'] },
      { type: 'signed_in', key: null, address: '203.0.113.7', count: 1 },
    ])
  })

  it('ends with a code that only the same browser can use', async () => {
    const browser = new Browser()
    says({ sub: 'p-two', preferred_username: 'ike' })
    const link = await browser.follow(await browser.throughIssuer())
    const victim = new Browser()
    expect((await victim.exchange(link)).answer.status).toBe(401)
    says({ sub: 'p-two', preferred_username: 'ike' })
    const { answer } = await browser.exchange(await browser.follow(await browser.throughIssuer()))
    expect(answer.status).toBe(200)
  })

  it('of a person without a role opens none, and adds nobody', async () => {
    const browser = new Browser()
    says({ sub: 'p-2', groups: [] })
    const added = (await facts('principal_added')).length
    const back = await browser.throughIssuer()
    expect(await failures(async () => expect(await browser.follow(back)).toBe('/#refused=no_role'))).toEqual([
      'no_role',
    ])
    expect((await facts('principal_added')).length).toBe(added)
  })

  it('works where the issuer gives no group, if an admin granted a role beforehand', async () => {
    const subject = { issuer: issuer.issuer, subject: 'p-3' }
    await admin('POST', '/v1/access/principals', { principal: 'eli', roles: ['viewer'], subject })
    const browser = new Browser()
    const { headers } = await browser.signIn({ sub: 'p-3', groups: [], preferred_username: 'ann' })
    expect(await bodyOf(await browser.send('GET', '/v1/access/me', headers))).toMatchObject({ principal: 'eli' })
  })

  it('is refused where a principal has the name of the person, until an admin links it', async () => {
    await admin('POST', '/v1/access/principals', { principal: 'gus', roles: ['approver'] })
    const said = { sub: 'p-5', groups: ['readers'], preferred_username: 'gus' }
    says(said)
    const first = new Browser()
    expect(await first.follow(await first.throughIssuer())).toBe('/#refused=not_linked')
    const subject = { issuer: issuer.issuer, subject: 'p-5' }
    await admin('POST', '/v1/access/principals', { principal: 'gus.linked', roles: ['approver'], subject })
    says(said)
    const second = new Browser()
    expect(await second.follow(await second.throughIssuer())).toMatch(/^\/#code=/)
  })

  it('of a removed person opens none', async () => {
    await new Browser().signIn({ sub: 'p-4', preferred_username: 'flo' })
    await admin('POST', '/v1/access/principals/flo/remove', {})
    const browser = new Browser()
    says({ sub: 'p-4' })
    expect(await browser.follow(await browser.throughIssuer())).toBe('/#refused=removed')
  })

  it.each([
    ['nonce', () => says({ nonce: 'another' }), 'oidc_claims'],
    ['missing nonce', () => says({ nonce: undefined }), 'oidc_claims'],
    ['audience', () => says({ aud: 'another' }), 'oidc_claims'],
    ['issuer', () => says({ iss: 'http://127.0.0.1:1' }), 'oidc_claims'],
    ['expiry', () => says({ exp: now() - 60 }), 'oidc_claims'],
    ['subject', () => says({ sub: '' }), 'oidc_claims'],
    [
      'signature',
      () =>
        gives((token) => {
          const [head, body, signature] = token.split('.')
          const claims = JSON.parse(Buffer.from(body!, 'base64url').toString())
          return `${head}.${encoded({ ...claims, groups: ['bosses'] })}.${signature}`
        }),
      'oidc_claims',
    ],
    ['algorithm', () => gives((token) => `${encoded({ alg: 'none' })}.${token.split('.')[1]}.`), 'oidc_claims'],
    [
      'code',
      () =>
        server.service.once(Events.BeforeResponse, (answer) => {
          answer.statusCode = 400
          answer.body = { error: 'invalid_grant' }
        }),
      'oidc_code',
    ],
  ])('with a wrong %s of the issuer opens none', async (_, change, reason) => {
    const browser = new Browser()
    change()
    const back = await browser.throughIssuer()
    expect(await failures(async () => expect(await browser.follow(back)).toBe('/#refused=not_valid'))).toEqual([reason])
    server.service.removeAllListeners()
    expect(world.faults).toEqual([])
  })

  it('that the issuer refuses shows nothing of its answer', async () => {
    const browser = new Browser()
    const state = new URLSearchParams((await browser.throughIssuer()).split('?')[1]).get('state')
    const evil = encodeURIComponent('<script>alert(1)</script>')
    const path = `/v1/session/oidc/callback?error=access_denied&error_description=${evil}&state=${state}`
    const answer = await browser.send('GET', path)
    expect([answer.headers.get('location'), await answer.text()]).toEqual(['/#refused=denied', ''])
  })
})

describe('a callback', () => {
  it.each([
    ['without the cookie, as in another browser', async (_: Browser, back: string) => new Browser().follow(back)],
    [
      'with the cookie of another login',
      async (_: Browser, back: string) => {
        const other = new Browser()
        await other.throughIssuer()
        return other.follow(back)
      },
    ],
    ['without a state', async (b: Browser, back: string) => b.follow(back.replace(/state=[^&]+/, ''))],
    ['with another state', async (b: Browser, back: string) => b.follow(back.replace(/state=[^&]+/, 'state=x'))],
    [
      'with an altered cookie',
      async (b: Browser, back: string) => {
        const [[name, value]] = [...b.cookies] as [[string, string]]
        b.cookies.set(name, `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`)
        return b.follow(back)
      },
    ],
    ['with nothing at all', async () => new Browser().follow('/v1/session/oidc/callback')],
  ])('%s opens no session', async (_, act) => {
    const browser = new Browser()
    const back = await browser.throughIssuer()
    expect(await failures(async () => expect(await act(browser, back)).toBe('/#refused=again'))).toEqual(['oidc_state'])
  })

  it('works once, also for a browser that kept its cookie', async () => {
    const browser = new Browser()
    says({ sub: 'p-5' })
    const back = await browser.throughIssuer()
    const kept = new Map(browser.cookies)
    expect(await browser.follow(back)).toMatch(/^\/#code=/)
    expect([...browser.cookies.keys()]).toEqual(['keepup_7433_browser'])
    for (const [name, value] of kept) browser.cookies.set(name, value)
    expect(await failures(async () => expect(await browser.follow(back)).toBe('/#refused=again'))).toEqual([
      'oidc_repeated',
    ])
  })

  it('leads only to this server, whatever its parameters and headers say', async () => {
    for (const more of [
      '&redirect_uri=https://evil.example',
      '&next=//evil.example',
      '&return_to=https://evil.example',
    ]) {
      const browser = new Browser()
      says({ sub: 'p-5' })
      const back = await browser.throughIssuer()
      expect(await browser.follow(back + more)).toMatch(/^\/#code=[\w-]{43}$/)
    }
  })

  it('gives a code that works once', async () => {
    const browser = new Browser()
    says({ sub: 'p-5' })
    const link = await browser.follow(await browser.throughIssuer())
    expect((await browser.exchange(link)).answer.status).toBe(200)
    expect((await new Browser().exchange(link)).answer.status).toBe(401)
  })
})

describe('the cookie of a login', () => {
  const begun = { state: 's', nonce: 'n', verifier: 'v', redirectUri: 'http://localhost/x' }
  let time = 1_000
  const around = (token: string) => ({
    token: () => token,
    random: world.services.random,
    clock: { ...world.services.clock, now: () => time },
  })

  it('is good for ten minutes, under one token of the data folder, and once', () => {
    const cookies = new LoginCookies(around('first'))
    const value = cookies.seal(begun)
    expect(new LoginCookies(around('second')).take([value], 's')).toBe('unknown')
    expect(cookies.take([value], 'other')).toBe('unknown')
    time += LOGIN_MS + 1
    expect(cookies.take([value], 's')).toBe('unknown')
    time -= 1
    expect(cookies.take(['', 'x', value], 's')).toEqual(begun)
    expect(cookies.take([value], 's')).toBe('repeated')
  })

  it('of each login is another one', () => {
    const cookies = new LoginCookies(around('first'))
    const digest = () => createHash('sha256').update(cookies.seal(begun)).digest('hex')
    expect(digest()).not.toBe(digest())
  })
})

describe('a session that a login opened', () => {
  const status = async (browser: Browser, headers: object, path = '/v1/runs') =>
    (await browser.send('GET', path, headers)).status

  it('ends with the token of the issuer, and after twelve hours at the latest', async () => {
    const exp = now() + 1_800
    const short = await new Browser().signIn({ sub: 'p-6', exp })
    expect(short.expiresAt).toBe(exp * 1_000)
    expect(short.answer.headers.get('set-cookie')).toMatch(/Max-Age=1[78]\d\d;/)
    const long = await new Browser().signIn({ sub: 'p-6', exp: now() + 90_000 })
    expect(Math.abs(long.expiresAt - (Date.now() + SESSION_MS))).toBeLessThan(60_000)
    const soon = new Browser()
    const { headers, expiresAt } = await soon.signIn({ sub: 'p-6', exp: now() + 3 })
    expect(await status(soon, headers)).toBe(200)
    const stream = await soon.send('GET', '/v1/events', headers)
    expect(stream.status).toBe(200)
    // The stream ends by itself.
    await stream.text()
    expect(Date.now()).toBeGreaterThan(expiresAt)
    expect(await status(soon, headers)).toBe(401)
  })

  it('ends on the server when the person signs out, with its streams, and the log says so', async () => {
    const browser = new Browser()
    const { headers } = await browser.signIn({ sub: 'p-7', preferred_username: 'hal' })
    const kept = new Map(browser.cookies)
    const stream = await browser.send('GET', '/v1/events', headers)
    expect((await browser.send('DELETE', '/v1/session', headers)).status).toBe(204)
    for (const [name, value] of kept) browser.cookies.set(name, value)
    expect(await status(browser, headers)).toBe(401)
    await stream.text()
    expect((await facts('signed_out')).filter(({ principal }) => principal === 'hal')).toHaveLength(1)
  })

  it('loses the roles that a later login does not claim, and ends with the last one', async () => {
    const [first, second] = [new Browser(), new Browser()]
    const { headers } = await first.signIn({ sub: 'p-8', groups: ['auditors', 'readers'], iat: now() - 20 })
    expect(await status(first, headers, '/v1/access/principals')).toBe(200)
    await second.signIn({ sub: 'p-8', groups: ['readers'], iat: now() - 10 })
    expect([await status(first, headers), await status(first, headers, '/v1/access/principals')]).toEqual([200, 403])
    says({ sub: 'p-8', groups: [] })
    expect(await second.follow(await second.throughIssuer())).toBe('/#refused=no_role')
    expect(await status(first, headers)).toBe(401)
  })

  it('cannot pass on a claimed role, which ends with the login', async () => {
    const browser = new Browser()
    const { headers } = await browser.signIn({ sub: 'p-boss', groups: ['bosses'], preferred_username: 'boss' })
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const add = (roles: readonly string[]) =>
      world.send(null, 'POST', '/v1/access/principals', {
        headers: { host: 'localhost:7433', cookie, ...headers },
        body: { principal: 'friend', roles },
      })
    expect((await add(['viewer'])).status).toBe(403)
    expect((await add([])).status).toBe(200)
  })

  it('loses granted roles when an admin takes them, and ends when its person is removed', async () => {
    const browser = new Browser()
    const { headers } = await browser.signIn({ sub: 'p-9', groups: ['readers'], preferred_username: 'ivy' })
    await admin('POST', '/v1/access/principals/ivy/grant', { role: 'auditor' })
    expect(await status(browser, headers, '/v1/access/principals')).toBe(200)
    await admin('POST', '/v1/access/principals/ivy/take', { role: 'auditor' })
    expect([await status(browser, headers), await status(browser, headers, '/v1/access/principals')]).toEqual([
      200, 403,
    ])
    await admin('POST', '/v1/access/principals/ivy/remove', {})
    expect(await status(browser, headers)).toBe(401)
  })

  it('needs both of its halves, and a page of this server', async () => {
    const browser = new Browser()
    const { headers } = await browser.signIn({ sub: 'p-10' })
    expect(await status(browser, {})).toBe(401)
    expect(await status(new Browser(), headers)).toBe(401)
    expect(await status(browser, { ...headers, 'sec-fetch-site': 'cross-site' })).toBe(403)
  })
})

describe('where it is not set up', () => {
  const closing = async <T extends { close(): Promise<void> }>(made: T, act: (made: T) => Promise<void>) => {
    try {
      await act(made)
    } finally {
      await made.close()
    }
  }
  const where = async ({ http }: Pick<AccessWorld, 'http'>, path: string, host = 'localhost:7433') =>
    (await http.request(`http://${host}${path}`, { headers: { host } })).headers.get('location')

  it('nobody can sign in without access, and the page offers nothing', async () => {
    await closing(await openWorld({ settings: { access: { oidc } } }), async (off) => {
      expect(await where(off, '/v1/session/oidc')).toBe('/#refused=access_off')
      expect(await bodyOf(await off.http.request('http://localhost/v1/session'))).toEqual({ issuer: null, keys: false })
    })
    const offered = await world.http.request('http://localhost/v1/session')
    expect(await bodyOf(offered)).toEqual({ issuer: new URL(issuer.issuer).host, keys: true })
  })

  it('or without an issuer', async () => {
    await closing(await openAccess({}), async (none) => {
      expect(await where(none, '/v1/session/oidc')).toBe('/#refused=not_configured')
      expect(await where(none, '/v1/session/oidc/callback?code=1&state=2')).toBe('/#refused=not_configured')
      expect(await bodyOf(await none.http.request('http://localhost/v1/session'))).toEqual({ issuer: null, keys: true })
    })
  })

  it('under a name of the network without an address in the settings', async () => {
    expect(await where(world, '/v1/session/oidc', 'keepup.example')).toBe('/#refused=redirect_uri')
    const redirectUri = 'https://keepup.example/v1/session/oidc/callback'
    await closing(await openAccess({ oidc: { ...oidc, redirectUri } }), async (named) => {
      const answer = await named.http.request('http://keepup.example/v1/session/oidc', {
        headers: { host: 'keepup.example' },
      })
      expect(new URL(answer.headers.get('location')!).searchParams.get('redirect_uri')).toBe(redirectUri)
      expect(answer.headers.get('set-cookie')).toMatch(/^__Host-keepup_session_login=[^;]+; Path=\/; Secure;/)
    })
  })

  it('with an issuer that does not answer, or has another name, which the log of the server says', async () => {
    await closing(await openAccess({ oidc: { ...oidc, issuer: 'http://127.0.0.1:9' } }), async (gone) => {
      expect(await where(gone, '/v1/session/oidc')).toBe('/#refused=issuer_unavailable')
      expect(String(gone.faults[0])).toContain('http://127.0.0.1:9')
      expect((await gone.facts('login_failed')).map(({ reason }) => reason)).toEqual(['issuer_unavailable'])
    })
    await closing(await openAccess({ oidc: { ...oidc, issuer: `${issuer.issuer}/` } }), async (odd) => {
      expect(await where(odd, '/v1/session/oidc')).toBe('/#refused=issuer_unavailable')
      expect(String(odd.faults[0])).toContain('access.oidc.issuer')
    })
  })
})
