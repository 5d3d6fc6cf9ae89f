import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OVER_NETWORK } from '../../../api/http/network.ts'
import { newKey } from '../../../api/operations/access/key-text.ts'
import { RIGHTS, type Right, ROLE_TABLE, ROLES, type Role } from '../../../domain/access/rights.ts'
import { appOver, bodyOf, openWorld, TOKEN } from '../support/http.ts'

// DESIGN "Access": who may do what. The requests go over the network, so the token of the data folder is not valid.

const world = await openWorld()
afterAll(() => world.close())

const keys = new Map<string, string>()

interface Asked {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

async function send(
  who: string | null,
  method: string,
  path: string,
  { body, headers }: Asked = {},
): Promise<Response> {
  const key = who === null ? null : (keys.get(who) ?? who)
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return world.http.fetch(request, OVER_NETWORK)
}

async function ok<T>(who: string, method: string, path: string, body?: unknown): Promise<T> {
  const response = await send(who, method, path, { body })
  if (response.status >= 300) throw new Error(await response.text())
  return (await response.json()) as T
}

const codeOf = async (response: Response): Promise<string | null> =>
  response.status < 400 ? null : (((await response.json()) as { code?: string }).code ?? null)

interface Described {
  readonly operationId: string
  readonly security?: unknown
  readonly 'x-keepup-right'?: Right
}

/** Every described route with its right: paths with names in place of their parameters. */
async function routes() {
  const { paths } = await bodyOf<{ paths: Record<string, Record<string, Described>> }>(
    await world.ask('GET', '/v1/openapi.json'),
  )
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, '00000000'),
      ...one,
    })),
  )
}

beforeAll(async () => {
  const { key } = await bodyOf<{ key: string }>(
    await world.ask('POST', '/v1/access', { body: { principal: 'ann', name: 'Ann' } }),
  )
  keys.set('admin', key)
  for (const role of ROLES) {
    if (role === 'admin') continue
    await ok('admin', 'POST', '/v1/access/principals', { principal: role, roles: [role] })
    const made = await ok<{ key: string }>('admin', 'POST', `/v1/access/principals/${role}/keys`, {})
    keys.set(role, made.key)
  }
})

describe('every operation', () => {
  it.each(ROLES)('is refused for a %s exactly when the role lacks its right', async (role: Role) => {
    for (const { method, path, operationId, 'x-keepup-right': right } of await routes()) {
      // Operations without a right are open to everyone, or check a credential of their own.
      if (right === undefined) continue
      const response = await send(role, method, path)
      const refused = response.status === 403 && (await codeOf(response)) === 'FORBIDDEN'
      if (!refused) await response.body?.cancel().catch(() => undefined)
      expect([operationId, refused]).toEqual([operationId, !ROLE_TABLE[role].includes(right)])
      expect([operationId, response.status === 401 || (response.status >= 500 && response.status !== 503)]).toEqual([
        operationId,
        false,
      ])
    }
    expect(world.faults).toEqual([])
  })

  it('is refused without a key, with the token, and with a revoked, expired, ownerless or foreign key', async () => {
    const bad = new Map<string, string | null>([
      ['no key', null],
      ['the token', TOKEN],
      ['a text', 'ku_key_nonsense'],
    ])
    const key = (principal: string, body = {}) =>
      ok<{ id: string; key: string }>('admin', 'POST', `/v1/access/principals/${principal}/keys`, body)
    const revoked = await key('operator')
    await ok('admin', 'POST', `/v1/access/keys/${revoked.id}/revoke`, { reason: 'lost' })
    bad.set('revoked', revoked.key)
    const expired = newKey(world.services.random)
    await world.services.access.change(
      {
        kind: 'create_key',
        principal: 'operator',
        key: { key: expired.id, hash: expired.hash, rights: null, expiresAt: '2026-01-01T00:00:00.000Z' },
      },
      { by: { kind: 'user', id: 'ann' }, commandId: 'expired' },
    )
    bad.set('expired', expired.text)
    await ok('admin', 'POST', '/v1/access/principals', { principal: 'gone', roles: ['admin'] })
    const ownerless = await key('gone')
    await ok('admin', 'POST', '/v1/access/principals/gone/remove', {})
    bad.set('ownerless', ownerless.key)
    bad.set('another secret', revoked.key.slice(0, 20) + keys.get('admin')!.slice(20))
    for (const { method, path, operationId, 'x-keepup-right': right } of await routes()) {
      if (right === undefined) continue
      for (const [name, one] of bad) {
        const response = await send(one, method, path)
        expect([operationId, name, response.status]).toEqual([operationId, name, 401])
        await response.body?.cancel()
      }
    }
  })
})

describe('a key', () => {
  it('gives at most the rights that it was created for, also when its owner gains others', async () => {
    const made = await ok<{ key: string }>('admin', 'POST', '/v1/access/principals/operator/keys', {
      rights: ['runs.read', 'access.write'],
    })
    await ok(made.key, 'GET', '/v1/runs')
    const me = await send(made.key, 'GET', '/v1/access/me')
    // "self.use" is not among the rights of this key.
    expect(await codeOf(me)).toBe('FORBIDDEN')
    expect(await codeOf(await send(made.key, 'POST', '/v1/runs', { body: { task: 'x' } }))).toBe('FORBIDDEN')
    expect(await codeOf(await send(made.key, 'PUT', '/v1/access/rules', { body: { separation: false } }))).toBe(
      'FORBIDDEN',
    )
  })

  it('is stored only as a hash, and listed without its secret', async () => {
    const secret = keys.get('viewer')!.slice(16)
    const events = await (await send('admin', 'GET', '/v1/streams/access-rights/export')).text()
    expect(events).toContain('key_created')
    expect(events).not.toContain(secret)
    expect(JSON.stringify(await ok('admin', 'GET', '/v1/access/keys'))).not.toContain(secret)
  })

  it('cannot be created with an unknown right, for an unknown principal, or for the past', async () => {
    const create = async (principal: string, body: object) =>
      codeOf(await send('admin', 'POST', `/v1/access/principals/${principal}/keys`, { body }))
    expect(await create('viewer', { rights: ['everything'] })).toBe('INVALID_REQUEST')
    expect(await create('nobody', {})).toBe('PRINCIPAL_UNKNOWN')
    expect(await create('viewer', { expiresAt: '2020-01-01T00:00:00Z' })).toBe('INVALID_REQUEST')
  })
})

describe('principals', () => {
  it('keep at least one admin, and never share an id', async () => {
    const post = async (path: string, body: object) => codeOf(await send('admin', 'POST', path, { body }))
    expect(await post('/v1/access/principals/ann/take', { role: 'admin' })).toBe('LAST_ADMIN')
    expect(await post('/v1/access/principals/ann/remove', {})).toBe('LAST_ADMIN')
    expect(await post('/v1/access/principals', { principal: 'viewer' })).toBe('PRINCIPAL_EXISTS')
    expect(await post('/v1/access/principals', { principal: 'gone' })).toBe('PRINCIPAL_EXISTS')
    expect(await post('/v1/access/principals', { principal: 'recovery' })).toBe('PRINCIPAL_EXISTS')
    expect(await post('/v1/access', { principal: 'eve' })).toBe('ACCESS_EXISTS')
  })

  it('gain and lose rights at once', async () => {
    const start = async () => codeOf(await send('viewer', 'POST', '/v1/runs', { body: { task: 1 } }))
    expect(await start()).toBe('FORBIDDEN')
    await ok('admin', 'POST', '/v1/access/principals/viewer/grant', { role: 'operator' })
    expect(await start()).toBe('INVALID_REQUEST')
    await ok('admin', 'POST', '/v1/access/principals/viewer/take', { role: 'operator' })
    expect(await start()).toBe('FORBIDDEN')
  })
})

describe('facts', () => {
  it('name the principal, who cannot claim another name', async () => {
    const asked = { title: 'Plan', format: 'empty' }
    const refused = await send('operator', 'POST', '/v1/documents', { body: { ...asked, by: 'ann' } })
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'BY_REFUSED'])
    for (const by of [undefined, 'operator']) {
      const made = await ok<{ documentId: string }>('operator', 'POST', '/v1/documents', { ...asked, by })
      const [first] = (
        await ok<{ events: { actor: object }[] }>('admin', 'GET', `/v1/streams/document-${made.documentId}/events`)
      ).events
      expect(first!.actor).toEqual({ kind: 'user', id: 'operator' })
    }
  })

  it('record audited reads, refused requests and failed logins, counted', async () => {
    await world.services.uses.record()
    const before = (await world.services.log.head('access-uses'))?.revision ?? -1
    for (let n = 0; n < 3; n++) await send('auditor', 'GET', '/v1/runs/r-1/events')
    for (let n = 0; n < 2; n++) await send('viewer', 'GET', '/v1/runs/r-1/events')
    await send('ku_key_nonsense', 'GET', '/v1/runs')
    await send(TOKEN, 'GET', '/v1/runs')
    await world.services.uses.record()
    const { events } = await ok<{ events: { type: string; payload: object; revision: number }[] }>(
      'admin',
      'GET',
      `/v1/streams/access-uses/events?limit=100&from=${before + 1}`,
    )
    const found = events.filter(({ revision }) => revision > before).map(({ type, payload }) => ({ type, ...payload }))
    const one = { operation: 'listRunEvents', run: 'r-1' }
    expect(found).toEqual(
      expect.arrayContaining([
        { type: 'read_audited', principal: 'auditor', ...one, count: 3 },
        { type: 'request_refused', principal: 'viewer', ...one, code: 'FORBIDDEN', count: 2 },
        { type: 'login_failed', key: null, reason: 'unknown', address: null, count: 1 },
        { type: 'login_failed', key: null, reason: 'token_over_network', address: null, count: 1 },
      ]),
    )
  })
})

describe('a session of the page', () => {
  async function open(who: string) {
    const { code } = await ok<{ code: string }>(who, 'POST', '/v1/session/codes', {})
    const answer = await send(null, 'POST', '/v1/session', { headers: { authorization: `Keepup-Code ${code}` } })
    const { key, by } = (await answer.json()) as { key: string; by: string }
    const cookie = answer.headers.get('set-cookie')!.split(';')[0]!
    return { by, headers: { cookie, 'keepup-session': key } }
  }
  const status = async (headers: Record<string, string>) =>
    (await send(null, 'GET', '/v1/access/me', { headers })).status

  it('belongs to the owner of the key, and has the same rights', async () => {
    const { by, headers } = await open('auditor')
    expect(by).toBe('auditor')
    const me = (await (await send(null, 'GET', '/v1/access/me', { headers })).json()) as object
    expect(me).toMatchObject({ principal: 'auditor', rights: RIGHTS.filter((one) => ROLE_TABLE.auditor.includes(one)) })
  })

  it('ends with its key, with its owner, and when the person signs out', async () => {
    await ok('admin', 'POST', '/v1/access/principals', { principal: 'cleo', roles: ['viewer'] })
    const made = () => ok<{ id: string; key: string }>('admin', 'POST', '/v1/access/principals/cleo/keys', {})
    const [first, second] = [await made(), await made()]
    const [byKey, signedOut, byOwner] = [await open(first.key), await open(second.key), await open(second.key)]
    await ok('admin', 'POST', `/v1/access/keys/${first.id}/revoke`, {})
    expect(await status(byKey.headers)).toBe(401)
    expect((await send(null, 'DELETE', '/v1/session', signedOut)).status).toBe(204)
    expect(await status(signedOut.headers)).toBe(401)
    expect(await status(byOwner.headers)).toBe(200)
    await ok('admin', 'POST', '/v1/access/principals/cleo/remove', {})
    expect(await status(byOwner.headers)).toBe(401)
  })

  it('cannot be opened by the owner of the data folder, whose token is not valid over the network', async () => {
    const answer = await world.ask('POST', '/v1/session/codes', { body: {} })
    expect(await codeOf(answer)).toBe('FORBIDDEN')
  })
})

describe('separation of duties', () => {
  const pending = async (run: string) => {
    const { approvals } = await ok<{ approvals: { toolCallId: string }[] }>('admin', 'GET', `/v1/approvals?run=${run}`)
    return approvals[0]!.toolCallId
  }
  const start = async (who: string, more: object = {}) => {
    const { workspace, ...given } = { workspace: world.workspace(), ...more }
    const body = { task: 'write it', model: world.model, tools: ['write_file'], workspace, drive: true, ...given }
    const { runId } = await ok<{ runId: string }>(who, 'POST', '/v1/runs', body)
    await world.services.drivers.ended(runId)
    return runId
  }
  const approve = async (who: string, toolCallId: string) => {
    const { questionHash } = await ok<{ questionHash: string }>('admin', 'GET', `/v1/approvals/${toolCallId}`)
    const body = { decision: 'approved', questionHash }
    return codeOf(await send(who, 'POST', `/v1/approvals/${toolCallId}`, { body }))
  }

  it('refuses whoever asked for the run or gave it input, admins too, and records it', { tags: ['git'] }, async () => {
    await ok('admin', 'POST', '/v1/access/principals', { principal: 'dora', roles: ['operator', 'approver'] })
    keys.set('dora', (await ok<{ key: string }>('admin', 'POST', '/v1/access/principals/dora/keys', {})).key)
    const asked = await start('dora')
    expect(await approve('dora', await pending(asked))).toBe('NOT_YOUR_OWN')
    expect(await approve('approver', await pending(asked))).toBeNull()
    const admins = await start('admin')
    expect(await approve('admin', await pending(admins))).toBe('NOT_YOUR_OWN')
    await ok('dora', 'POST', `/v1/runs/${admins}/input`, { text: 'be quick' })
    expect(await approve('dora', await pending(admins))).toBe('NOT_YOUR_OWN')
    await world.services.uses.record()
    await world.services.read.caughtUp()
    const { rows } = await ok<{ rows: unknown[][] }>('admin', 'POST', '/v1/sql', {
      sql: "select principal, run_id, sum(count) from access_uses where reason = 'NOT_YOUR_OWN' group by 1, 2 order by 3, 1, 2",
    })
    expect(rows).toHaveLength(3)
  })

  it('counts those who asked for the run from which it was forked', { tags: ['git'] }, async () => {
    const source = await start('dora')
    const body = { event: 1, drive: true, workspace: world.workspace() }
    const { runId } = await ok<{ runId: string }>('operator', 'POST', `/v1/runs/${source}/fork`, body)
    await world.services.drivers.ended(runId)
    expect(await approve('dora', await pending(runId))).toBe('NOT_YOUR_OWN')
  })

  it('refuses approvals of tools beforehand by whoever asks for the run', async () => {
    const body = { task: 'write it', model: world.model, approve: ['write_file'] }
    expect(await codeOf(await send('admin', 'POST', '/v1/runs', { body }))).toBe('NOT_YOUR_OWN')
  })

  it('ends when an admin lifts the rule', { tags: ['git'] }, async () => {
    await ok('admin', 'PUT', '/v1/access/rules', { separation: false })
    expect(await approve('dora', await pending(await start('dora')))).toBeNull()
    await ok('admin', 'PUT', '/v1/access/rules', { separation: true })
  })
})

describe('a viewer', () => {
  it('sees runs without the texts of people, models and tools', async () => {
    const body = { task: 'finish the secret plan', model: world.model, drive: true }
    const { runId } = await ok<{ runId: string }>('operator', 'POST', '/v1/runs', body)
    await world.services.drivers.ended(runId)
    for (const path of ['/v1/runs', `/v1/runs/${runId}`, `/v1/runs/${runId}/tree`]) {
      expect(await (await send('viewer', 'GET', path)).text()).not.toMatch(/secret plan/)
      if (!path.endsWith('tree')) expect(await (await send('auditor', 'GET', path)).text()).toMatch(/secret plan/)
    }
    expect(await codeOf(await send('viewer', 'GET', '/v1/runs?text=plan'))).toBe('FORBIDDEN')
  })
})

describe('an operator', () => {
  it('cannot start a run without a sandbox, whose commands could read the token, nor fork one', {
    tags: ['git'],
  }, async () => {
    const body = { task: 'write it', model: world.model, policy: { sandboxed: false } }
    expect(await codeOf(await send('operator', 'POST', '/v1/runs', { body }))).toBe('FORBIDDEN')
    const { runId } = await ok<{ runId: string }>('admin', 'POST', '/v1/runs', {
      ...body,
      workspace: world.workspace(),
    })
    expect(await codeOf(await send('operator', 'POST', `/v1/runs/${runId}/fork`, { body: {} }))).toBe('FORBIDDEN')
  })
})

describe('an admin', () => {
  it('with a restricted key gives no right that the key does not give', async () => {
    const rights = ['access.write', 'runs.read']
    const made = await ok<{ key: string }>('admin', 'POST', '/v1/access/principals/ann/keys', { rights })
    const post = async (path: string, body: object) => codeOf(await send(made.key, 'POST', path, { body }))
    expect(await post('/v1/access/principals/ann/keys', {})).toBe('FORBIDDEN')
    expect(await post('/v1/access/principals/ann/keys', { rights: ['runs.start'] })).toBe('FORBIDDEN')
    expect(await post('/v1/access/principals/viewer/grant', { role: 'admin' })).toBe('FORBIDDEN')
    expect(await post('/v1/access/principals', { principal: 'mallory', roles: ['admin'] })).toBe('FORBIDDEN')
    expect(await post('/v1/access/principals/ann/keys', { rights: ['runs.read'] })).toBeNull()
  })

  it('revokes a key whose id is the value of a secret', async () => {
    const made = await ok<{ id: string }>('admin', 'POST', '/v1/access/principals/viewer/keys', {})
    await ok('admin', 'PUT', '/v1/secrets/UNLUCKY', { value: made.id })
    await ok('admin', 'POST', `/v1/access/keys/${made.id}/revoke`, {})
    await send('admin', 'DELETE', '/v1/secrets/UNLUCKY')
  })

  it('erases names, which then show nowhere', async () => {
    await ok('admin', 'POST', '/v1/access/principals', { principal: 'finn', name: 'Finn Forgotten' })
    const body = { reason: 'asked for' }
    await ok('admin', 'POST', '/v1/streams/access-rights/erase', body)
    expect(await (await send('admin', 'GET', '/v1/access/principals?limit=500')).text()).not.toMatch(/Forgotten/)
    expect((await send('admin', 'GET', '/v1/streams/access-rights/verify')).status).toBe(200)
  })
})

describe('a request', () => {
  it('does nothing when its key ends while its body arrives', async () => {
    const made = await ok<{ id: string; key: string }>('admin', 'POST', '/v1/access/principals/operator/keys', {})
    const begun = Promise.withResolvers<void>()
    const revoked = Promise.withResolvers<void>()
    const body = new ReadableStream({
      async pull(controller) {
        begun.resolve()
        await revoked.promise
        controller.enqueue(new TextEncoder().encode('{"title":"late","format":"empty"}'))
        controller.close()
      },
    })
    const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' }
    const request = new Request('http://localhost/v1/documents', { method: 'POST', headers, body, duplex: 'half' })
    const answer = world.http.fetch(request, OVER_NETWORK)
    await begun.promise
    await ok('admin', 'POST', `/v1/access/keys/${made.id}/revoke`, {})
    revoked.resolve()
    expect((await answer).status).toBe(401)
  })

  it('cannot fill the log with texts of its path, or with many runs', async () => {
    await world.services.uses.record()
    const before = (await world.services.log.head('access-uses'))!.revision
    await send('viewer', 'GET', `/v1/runs/${'x'.repeat(5_000)}/events`)
    for (let n = 0; n < 500; n++) await send('viewer', 'GET', `/v1/runs/many-${n}/events`)
    await world.services.uses.record()
    expect((await world.services.log.head('access-uses'))!.revision - before).toBeLessThan(250)
  })
})

describe('a stream of events', () => {
  it('ends with the key of its reader', async () => {
    const quick = appOver(world.services, world.model, { heartbeatMs: 50 })
    const made = await ok<{ id: string; key: string }>('admin', 'POST', '/v1/access/principals/auditor/keys', {})
    const headers = { authorization: `Bearer ${made.key}` }
    const answer = await quick.http.fetch(
      new Request('http://localhost/v1/events?from=head', { headers }),
      OVER_NETWORK,
    )
    expect(answer.status).toBe(200)
    const read = (async () => {
      let chunks = 0
      for await (const _ of answer.body!) chunks += 1
      return chunks
    })()
    await ok('admin', 'POST', `/v1/access/keys/${made.id}/revoke`, {})
    expect(await read).toBeGreaterThan(0)
  })
})
