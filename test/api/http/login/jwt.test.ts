import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, describe, expect, it } from 'vitest'
import { bodyOf, openWorld, TOKEN } from '../../support/http.ts'
import { AUDIENCE, openAccess, ROLES_OF_GROUPS, startIssuer } from '../../support/issuer.ts'

// Services send tokens of their issuer in place of keys.

const issuer = await startIssuer()
const jwt = { issuer: issuer.issuer, audience: AUDIENCE, jwks: `${issuer.issuer}/jwks`, roles: ROLES_OF_GROUPS }
const gone = { ...jwt, issuer: 'http://127.0.0.1:9/gone', jwks: 'http://127.0.0.1:9/jwks' }
const world = await openAccess({ jwt: [jwt, gone] }, { heartbeatMs: 200 })
afterAll(async () => {
  await world.close()
  await issuer.server.stop()
})

const { send, admin, facts, failures } = world
const me = async (token: string) => bodyOf<{ principal: string }>(await send(token, 'GET', '/v1/access/me'))
const status = async (token: string, path = '/v1/runs') => (await send(token, 'GET', path)).status
const of = (found: readonly Record<string, unknown>[], principal: string) =>
  found.filter((one) => one.principal === principal)

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const { token, now } = issuer
const payload = () => ({
  ...{ iss: issuer.issuer, aud: AUDIENCE, sub: 'svc-1', iat: now(), exp: now() + 300, groups: ['bosses'] },
})
const pem = async () => {
  const { exportSPKI, importJWK } = await import('jose')
  const { kty, n, e } = issuer.jwk
  const key = await importJWK({ kty: kty!, n: n as string, e: e as string }, 'RS256', { extractable: true })
  return new TextEncoder().encode(await exportSPKI(key as CryptoKey))
}
const foreign = await generateKeyPair('RS256')

const BAD: readonly [name: string, make: () => Promise<string>, reason: string][] = [
  ['the algorithm none', async () => `${encoded({ alg: 'none' })}.${encoded(payload())}.`, 'jwt_algorithm'],
  [
    'the public key as the secret of HS256',
    async () => new SignJWT(payload()).setProtectedHeader({ alg: 'HS256', kid: issuer.kid }).sign(await pem()),
    'jwt_algorithm',
  ],
  [
    'the key of a stranger under the name of ours',
    () => new SignJWT(payload()).setProtectedHeader({ alg: 'RS256', kid: issuer.kid }).sign(foreign.privateKey),
    'jwt_signature',
  ],
  [
    'another content under our signature',
    async () => {
      const [head, , signature] = (await token({ groups: [] })).split('.')
      return `${head}.${encoded(payload())}.${signature}`
    },
    'jwt_signature',
  ],
  ['another audience', () => token({ aud: 'https://other.example' }), 'jwt_audience'],
  ['no audience', () => token({ aud: undefined }), 'jwt_audience'],
  ['another issuer', () => token({ iss: 'https://other.example' }), 'jwt_issuer'],
  ['no issuer', () => token({ iss: undefined }), 'jwt_issuer'],
  ['a time that has passed', () => token({ exp: now() - 60 }), 'jwt_expired'],
  ['a time that has not come', () => token({ nbf: now() + 120 }), 'jwt_not_yet_valid'],
  ['an origin in the future', () => token({ iat: now() + 120, exp: now() + 600 }), 'jwt_not_yet_valid'],
  ['no end', () => token({ exp: undefined }), 'jwt_claims'],
  ['an end that is a text', () => token({ exp: 'never' }), 'jwt_claims'],
  ['no subject', () => token({ sub: undefined }), 'jwt_claims'],
  ['a subject that is no text', () => token({ sub: { a: 1 } }), 'jwt_claims'],
  ['no time of its origin', () => token({ iat: undefined }), 'jwt_claims'],
  ['too many characters', () => token({ filler: 'x'.repeat(8 * 1024) }), 'jwt_too_large'],
  ['an unknown key', () => token({}, { kid: 'nobody' }), 'jwt_key'],
  ['a beginning only', async () => 'eyJhbGciOiJSUzI1NiJ9', 'jwt_malformed'],
  ['parts that are no JSON', async () => 'eyJ.eyJ.eyJ', 'jwt_malformed'],
]

describe('a token', () => {
  it('gives the roles of its groups. The log says so before they count, and once', async () => {
    const one = await token({ sub: 'svc-1', groups: ['readers'], name: 'Nightly', preferred_username: 'Nightly' })
    expect(await me(one)).toMatchObject({ principal: 'nightly', key: null })
    expect([await status(one), await status(one, '/v1/access/principals')]).toEqual([200, 403])
    const source = { issuer: issuer.issuer, audience: AUDIENCE }
    expect(of(await facts('principal_added', 'roles_claimed'), 'nightly')).toEqual([
      {
        ...{ type: 'principal_added', principal: 'nightly', kind: 'service', name: 'Nightly' },
        subject: { issuer: issuer.issuer, subject: 'svc-1' },
      },
      { type: 'roles_claimed', principal: 'nightly', ...source, roles: ['viewer'], issuedAt: expect.any(String) },
    ])
    await world.services.read.caughtUp()
    const sql = 'select principal, roles from role_claims'
    expect(await admin('POST', '/v1/sql', { sql })).toMatchObject({ rows: [['nightly', '["viewer"]']] })
  })

  it.each(BAD)('with %s is refused, and the log says why', async (_, make, reason) => {
    const bad = await make()
    const added = (await facts('principal_added')).length
    expect(await failures(async () => expect(await status(bad)).toBe(401))).toEqual([reason])
    expect((await facts('principal_added')).length).toBe(added)
    expect(world.faults).toEqual([])
  })

  it('of a subject without a role is refused, and adds nobody', async () => {
    const added = (await facts('principal_added')).length
    const none = await token({ sub: 'svc-none', groups: ['strangers'] })
    expect(await failures(async () => expect(await status(none)).toBe(403))).toEqual(['no_role'])
    expect((await facts('principal_added')).length).toBe(added)
  })

  it('whose groups changed changes the roles, and an older one does not bring them back', async () => {
    const at = now() - 100
    const make = (groups: string[], later: number) => token({ sub: 'svc-2', groups, iat: at + later })
    const [boss, reader, none] = [await make(['bosses'], 0), await make(['readers'], 1), await make([], 2)]
    const principals = (one: string) => status(one, '/v1/access/principals')
    expect(await principals(boss)).toBe(200)
    expect([await principals(reader), await status(reader)]).toEqual([403, 200])
    // Both tokens are valid. The newer one says what the subject may do.
    expect([await principals(boss), await status(boss)]).toEqual([403, 403])
    expect([await status(none), await status(reader), await status(boss)]).toEqual([403, 403, 403])
    const claimed = (await facts('roles_claimed')).slice(-3)
    expect(claimed.map(({ roles }) => roles)).toEqual([['admin'], ['viewer'], []])
  })

  it('of a removed principal is refused', async () => {
    const one = await token({ sub: 'svc-3', groups: ['readers'], preferred_username: 'leaver' })
    expect(await status(one)).toBe(200)
    await admin('POST', '/v1/access/principals/leaver/remove', {})
    expect(await failures(async () => expect(await status(one)).toBe(401))).toEqual(['removed'])
  })

  it('belongs to the principal with its subject, whatever names it has', async () => {
    const subject = { issuer: issuer.issuer, subject: 'svc-4' }
    await admin('POST', '/v1/access/principals', { principal: 'prepared', roles: ['viewer'], subject })
    const known = await token({ sub: 'svc-4', groups: ['auditors'], preferred_username: 'ann', email: 'ann' })
    expect(await me(known)).toMatchObject({ principal: 'prepared' })
    // Its rights are those of both roles.
    expect([await status(known), await status(known, '/v1/access/principals')]).toEqual([200, 200])
    const stranger = await token({ sub: 'svc-5', groups: ['readers'], preferred_username: 'ann' })
    expect((await me(stranger)).principal).toMatch(/^id-[0-9a-f]{16}$/)
    expect(await status(stranger, '/v1/access/principals')).toBe(403)
    const again = await send(world.key, 'POST', '/v1/access/principals', { body: { principal: 'second', subject } })
    expect(await bodyOf(again)).toMatchObject({ code: 'SUBJECT_EXISTS' })
  })

  it('cannot name reserved ids, nor an address that its issuer did not verify', async () => {
    const id = async (claims: object) => (await me(await token({ groups: ['readers'], ...claims }))).principal
    expect(await id({ sub: 'svc-6', preferred_username: 'recovery' })).toMatch(/^id-/)
    expect(await id({ sub: 'svc-7', preferred_username: '../x', email: 'ed@x.org', email_verified: true })).toBe(
      'ed@x.org',
    )
    expect(await id({ sub: 'svc-8', email: 'flo@x.org', email_verified: false })).toMatch(/^id-/)
  })

  it('claims roles that keys do not give, because keys outlive it', async () => {
    const one = await token({ sub: 'svc-9', groups: ['bosses'], preferred_username: 'gil' })
    expect(await status(one)).toBe(200)
    const { key } = await admin<{ key: string }>('POST', '/v1/access/principals/gil/keys', {})
    expect([await status(key), await status(one)]).toEqual([403, 200])
  })

  it('opens no session of the page', async () => {
    const one = await token({ sub: 'svc-1', groups: ['readers'] })
    expect((await send(one, 'POST', '/v1/session/codes', { body: {} })).status).toBe(403)
  })

  it('ends its event streams when it expires', async () => {
    // The tolerance for clocks is 30 s, so this token is valid for about two seconds more.
    const one = await token({ sub: 'svc-11', groups: ['auditors'], exp: now() - 28 })
    const answer = await send(one, 'GET', '/v1/events')
    expect(answer.status).toBe(200)
    await answer.text()
    expect(await status(one)).toBe(401)
  })

  it('ends its event streams when it loses its role', async () => {
    const make = (groups: string[], iat: number) => token({ sub: 'svc-10', groups, iat })
    const answer = await send(await make(['auditors'], now() - 10), 'GET', '/v1/events')
    expect(answer.status).toBe(200)
    expect(await status(await make([], now()))).toBe(403)
    await answer.text()
  })
})

describe('an issuer whose keys cannot be read', () => {
  it('is answered with 503, because the token may be valid', async () => {
    const one = await token({ iss: gone.issuer })
    const answer = await send(one, 'GET', '/v1/runs')
    expect(answer.status).toBe(503)
    expect(await bodyOf(answer)).toMatchObject({
      code: 'ISSUER_UNAVAILABLE',
      detail: expect.stringContaining(gone.jwks),
    })
  })
})

describe('without issuers', () => {
  it('a token is an unknown key', async () => {
    const other = await openAccess({})
    try {
      const one = await token({ groups: ['bosses'] })
      expect(await other.failures(async () => other.send(one, 'GET', '/v1/runs'))).toEqual(['unknown'])
    } finally {
      await other.close()
    }
  })
})

describe('without access', () => {
  it('a token is refused, and adds nobody', async () => {
    const other = await openWorld({ settings: { access: { jwt: [jwt] } } })
    try {
      const authorization = `Bearer ${await token({ groups: ['bosses'] })}`
      const answer = await other.ask('GET', '/v1/runs', { headers: { authorization } })
      expect(answer.status).toBe(401)
      expect(await other.services.log.head('access-rights')).toBeNull()
      expect((await other.ask('GET', '/v1/runs', { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200)
    } finally {
      await other.close()
    }
  })
})

describe('the address of a request', () => {
  it('is that of its connection, never that of a header', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.2' }
    await send('ku_key_nonsense', 'GET', '/v1/runs', { headers, address: '192.0.2.44' })
    expect(await facts('login_failed')).toContainEqual({
      ...{ type: 'login_failed', key: null, reason: 'unknown', address: '192.0.2.44', count: 1 },
    })
    const text = JSON.stringify(await facts('login_failed', 'key_used_first_from'))
    expect(text).not.toMatch(/198\.51\.100/)
  })

  it('is recorded when a key is first used from it, for a hundred addresses of a key', async () => {
    const { key, id } = await admin<{ key: string; id: string }>('POST', '/v1/access/principals/ann/keys', {})
    const uses = async () => (await facts('key_used_first_from')).filter((one) => one.key === id)
    for (let n = 0; n < 3; n++) await send(key, 'GET', '/v1/runs', { address: '192.0.2.1' })
    expect(await uses()).toEqual([{ type: 'key_used_first_from', key: id, address: '192.0.2.1' }])
    for (let n = 0; n < 150; n++) await send(key, 'GET', '/v1/access/me', { address: `198.18.0.${n}` })
    expect(await uses()).toHaveLength(100)
  })

  it('of failed logins is recorded for a hundred of them in a minute, and the others are counted', async () => {
    const before = (await facts('login_failed')).length
    for (let n = 0; n < 150; n++) await send('nonsense', 'GET', '/v1/runs', { address: `198.18.1.${n}` })
    const found = (await facts('login_failed')).slice(before)
    expect(found).toHaveLength(101)
    expect(found.find(({ address }) => address === null)?.count).toBe(50)
  })
})
