import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ensureToken, tokenMatches, tokenPath } from '../../../api/http/token.ts'
import { envName, loadConfig, unknownVariables } from '../../../api/process/config/settings.ts'

const root = mkdtempSync(join(tmpdir(), 'keepup-config-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const file = join(root, 'keepup.json')
const settings = (value: unknown) => writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))

describe('settings', () => {
  it('come from flags, then environment, then file, then defaults', () => {
    settings({ port: 1001, host: '::1', hosts: ['a'] })
    const env = { KEEPUP_PORT: '1002', KEEPUP_HOSTS: 'b, c', KEEPUP_DATA: root }
    expect(loadConfig({ flags: { port: '1003' }, env })).toMatchObject({
      port: 1003,
      hosts: ['b', 'c'],
      host: '::1',
      data: root,
    })
    expect(loadConfig({ flags: {}, env })).toMatchObject({ port: 1002 })
    expect(loadConfig({ flags: { data: root }, env: {} })).toMatchObject({ port: 1001, hosts: ['a'] })
    expect(loadConfig({ flags: {}, env: { XDG_DATA_HOME: join(root, 'x') } })).toMatchObject({
      port: 7433,
      data: join(root, 'x', 'keepup'),
    })
  })

  it.each([
    [{ port: 'high' }, `bad value for "port" (${file})`],
    [{ by: 'a\u001b[31m' }, 'bad value for "by"'],
    [{ sandboxReadable: ['/opt/models', 'relative'] }, 'bad value for "sandboxReadable"'],
    [{ sandboxReadable: ['/opt/..'] }, 'expected absolute paths of files and folders; the root cannot be one'],
    [{ prot: 1 }, `${file}: unknown key "prot"`],
    [{ data: '/x' }, '"data" belongs to --data'],
    [[], 'expected an object'],
    ['{"port": 1,}', 'line 1, column 12'],
    [{ models: [{ provider: 'x' }] }, 'models.0.id'],
    [{ models: { mine: {} } }, '; such as "models": [{"id":'],
    [{ models: [{ id: 'a', price: { asOf: 'x', input: 1 } }] }, 'models.0.price.output'],
    [{ retry: { maxRetries: 99 } }, '; such as "retry": {"maxRetries":20'],
    [{ retry: { retries: 9 } }, 'unknown key "retries"'],
    [{ access: { oidc: { clientId: 'keepup' } } }, 'access.oidc.issuer'],
    [
      { access: { oidc: { issuer: 'http://login.example.org', clientId: 'a' } } },
      'http:// is only for issuers on this',
    ],
    [{ access: { oidc: { issuer: 'https://a', clientId: 'a', clientSecret: 'x' } } }, 'KEEPUP_OIDC_SECRET, not to the'],
    [{ access: { oidc: { issuer: 'https://a', clientId: 'a', scopes: ['email'] } } }, 'access.oidc.scopes'],
    [{ access: { oidc: { issuer: 'https://a', clientId: 'a', redirectUri: 'https://a/b' } } }, 'oidc.redirectUri'],
    [
      { access: { oidc: { issuer: 'https://a', clientId: 'a', roles: [{ claim: 'g', value: 'x', role: 'king' }] } } },
      'roles.0.role',
    ],
    [{ access: { jwt: [{ issuer: 'https://a', audience: 'b', jwks: 'ftp://a' }] } }, 'access.jwt.0.jwks'],
    [
      { access: { jwt: [1, 2].map(() => ({ issuer: 'https://a', audience: 'b', jwks: 'https://a/j' })) } },
      'access.jwt',
    ],
    [{ oidcSecret: 'x' }, '"oidcSecret" belongs to KEEPUP_OIDC_SECRET'],
  ])('name the key and the place where they are wrong: %j', (value, says) => {
    settings(value)
    expect(() => loadConfig({ flags: {}, env: {}, file })).toThrow(says)
  })

  it('take prices in dollars, as text or number', () => {
    const models = [{ id: 'mine', provider: 'openai', price: { asOf: 'now', input: '0.15', output: 2.5 } }]
    settings({ models })
    expect(loadConfig({ flags: {}, env: {}, file }).models).toEqual(models)
  })

  it('name a bad variable and a bad flag', () => {
    settings({})
    expect(() => loadConfig({ flags: {}, env: { KEEPUP_SANDBOXED: 'maybe' }, file })).toThrow(
      'variable KEEPUP_SANDBOXED',
    )
    expect(() => loadConfig({ flags: { port: '70000' }, env: {}, file })).toThrow('"port" (command line)')
    expect(loadConfig({ flags: {}, env: { KEEPUP_SANDBOXED: 'no' }, file }).sandboxed).toBe(false)
    expect(loadConfig({ flags: {}, env: { KEEPUP_OIDC_SECRET: 'x' }, file }).oidcSecret).toBe('x')
  })

  it('of servers are both there or neither, and no message repeats a password', () => {
    settings({})
    const [eventstore, postgres] = ['esdb://ada:geheim1@db:2113', 'postgres://ada:geheim2@db/keepup']
    const load = (env: Record<string, string>) => loadConfig({ flags: {}, env, file })
    expect(load({ KEEPUP_EVENTSTORE: eventstore, KEEPUP_POSTGRES: postgres })).toMatchObject({ namespace: 'keepup' })
    const odd = 'postgres://ada:ge,heim@db/keepup?application_name=a,b'
    expect(load({ KEEPUP_EVENTSTORE: eventstore, KEEPUP_POSTGRES: odd }).postgres).toBe(odd)
    expect(() => load({ KEEPUP_EVENTSTORE: eventstore })).toThrow('Set KEEPUP_POSTGRES too')
    expect(() => load({ KEEPUP_POSTGRES: postgres })).toThrow('Set KEEPUP_EVENTSTORE too')
    for (const wrong of [
      { KEEPUP_EVENTSTORE: `http${eventstore}`, KEEPUP_POSTGRES: postgres },
      { KEEPUP_EVENTSTORE: eventstore, KEEPUP_POSTGRES: `http${postgres}` },
      { KEEPUP_EVENTSTORE: eventstore, KEEPUP_POSTGRES: 'postgres://ada:geheim2@a:5432,b:5432/keepup' },
      { KEEPUP_EVENTSTORE: eventstore, KEEPUP_POSTGRES: postgres, KEEPUP_NAMESPACE: 'public' },
      { KEEPUP_EVENTSTORE: eventstore },
    ]) {
      try {
        load(wrong)
        expect.unreachable()
      } catch (error) {
        expect(String(error)).toContain('ConfigError')
        expect(String(error)).not.toContain('geheim')
      }
    }
  })

  it('know their variables', () => {
    expect(envName('maxBodyBytes')).toBe('KEEPUP_MAX_BODY_BYTES')
    expect(unknownVariables({ KEEPUP_PORT: '1', KEEPUP_FOO: '1', PATH: '' })).toEqual(['KEEPUP_FOO'])
  })
})

describe('the token', () => {
  it('is made once, for its user only, and compared whole', () => {
    const bytes = (n: number) => new Uint8Array(n).map(() => Math.floor(Math.random() * 256))
    const token = ensureToken(root, bytes)
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(ensureToken(root, bytes)).toBe(token)
    expect(statSync(tokenPath(root)).mode & 0o777).toBe(0o600)
    expect(tokenMatches(`Bearer ${token}`, token)).toBe(true)
    for (const wrong of [undefined, '', token, `Bearer ${token} x`, `Bearer ${token}x`, `Basic ${token}`, 'Bearer ']) {
      expect(tokenMatches(wrong, token)).toBe(false)
    }
  })

  it('that holds nothing is refused', () => {
    writeFileSync(tokenPath(root), '', { mode: 0o600 })
    expect(() => ensureToken(root, () => new Uint8Array(0))).toThrow('holds no token')
  })

  it('refuses a variable that is nearly that of a setting, and a time with a unit', () => {
    const load = (env: Record<string, string>) => () => loadConfig({ flags: {}, env: { KEEPUP_DATA: root, ...env } })
    for (const [said, meant] of [
      ['KEEPUP_EVENT_STORE', 'KEEPUP_EVENTSTORE'],
      ['KEEPUP_EVENSTORE', 'KEEPUP_EVENTSTORE'],
      ['KEEPUP_EVENTSTORE_URL', 'KEEPUP_EVENTSTORE'],
      ['KEEPUP_POSTGRESQL', 'KEEPUP_POSTGRES'],
      ['KEEPUP_POSTGRES_URL', 'KEEPUP_POSTGRES'],
      ['KEEPUP_POSTGERS', 'KEEPUP_POSTGRES'],
      ['KEEPUP_NAMSPACE', 'KEEPUP_NAMESPACE'],
      ['KEEPUP_NAMESPCE', 'KEEPUP_NAMESPACE'],
      ['keepup_namespace', 'KEEPUP_NAMESPACE'],
      ['KEEPUP_LEASEMS', 'KEEPUP_LEASE_MS'],
      ['KEEPUP_PROT', 'KEEPUP_PORT'],
      ['KEEPUP_DATA_DIR', 'KEEPUP_DATA'],
    ] as const)
      expect(load({ [said]: 'x' })).toThrow(`${said} is no setting; ${meant} is one`)
    expect(load({ KEEPUP_MODELS: '[]' })).toThrow('KEEPUP_MODELS is no setting: "models" stands in keepup.json')
    for (const other of ['KEEPUP_POSTGRES_PASSWORD', 'KEEPUP_COMMAND', 'KEEPUP_HOME', 'KEEPUP_VERSION', 'KEEPUP_TOKEN'])
      expect(load({ [other]: 'x' })).not.toThrow()
    const service = { KEEPUP_POSTGRES_SERVICE_HOST: '10.0.0.1', KEEPUP_POSTGRES_PORT: 'tcp://10.0.0.1:5432' }
    expect(load(service)).not.toThrow()
    const own = {
      KEEPUP_SERVICE_HOST: '10.0.0.1',
      KEEPUP_PORT: 'tcp://10.0.0.1:7433',
      KEEPUP_PORT_7433_TCP_PROTO: 'tcp',
    }
    expect(load(own)).not.toThrow()
    expect(load({ KEEPUP_PORT: own.KEEPUP_PORT })).toThrow('bad value for "port"')
    expect(load({ KEEPUP_POSTGRES_PORT: '5432' })).toThrow('KEEPUP_POSTGRES is one')
    expect(load({ KEEPUP_LEASE_MS: '10s' })).toThrow(
      /"leaseMs" \(variable KEEPUP_LEASE_MS\): .*a number of ms, 10000 for 10 s/,
    )
  })
})

it.each(['pg', 'pg_x', 'public', 'information_schema', 'User', '1a'])('no namespace is called %s', (namespace) => {
  expect(() => loadConfig({ flags: { namespace }, env: {} })).toThrow(/bad value for "namespace".*"public" or "pg"/)
})
