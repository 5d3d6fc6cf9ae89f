import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { OVER_NETWORK } from '../../../api/http/network.ts'
import { TokenError } from '../../../api/http/token.ts'
import { newKey } from '../../../api/operations/access/key-text.ts'
import { RIGHTS, type Right, ROLE_TABLE, ROLES, type Role } from '../../../domain/access/rights.ts'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import { ENDED } from '../../support/external/in-process.ts'
import { appOver, bodyOf, openWorld, TOKEN } from '../support/http.ts'

// DESIGN "Access": who may do what. The requests go over the network, so the token of the data folder is not valid.

/** Another agent that asks for one permission and reports the answer. */
const asker: AgentBackend = {
  kind: 'asker',
  capabilities: ['agent_api.run', 'agent_api.events'],
  async start(_, run) {
    const finalText = await run.ask!({ tool: 'execute', title: 'rm a', input: { command: 'rm a' } })
    return { ...ENDED, finalText }
  },
}

const world = await openWorld({ agents: [asker], settings: { agents: { folders: [realpathSync(tmpdir())] } } })
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
    // Every key may say whose it is. The owner does not have the right "access.write".
    expect(await ok(made.key, 'GET', '/v1/access/me')).toMatchObject({ rights: ['runs.read', 'self.use'] })
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

  it('record who set and removed a secret, before it happens', async () => {
    const before = (await world.services.log.head('access-uses'))?.revision ?? -1
    expect((await send('operator', 'PUT', '/v1/secrets/PORTAL', { body: { value: 'a-long-value' } })).status).toBe(403)
    await ok('admin', 'PUT', '/v1/secrets/PORTAL', { value: 'a-long-value' })
    await ok('admin', 'DELETE', '/v1/secrets/PORTAL')
    const { events } = await ok<{ events: { type: string; payload: object }[] }>(
      'admin',
      'GET',
      `/v1/streams/access-uses/events?from=${before + 1}`,
    )
    expect(events.filter(({ type }) => type === 'operation_requested').map(({ payload }) => payload)).toEqual([
      { principal: 'ann', operation: 'setSecret', target: 'PORTAL' },
      { principal: 'ann', operation: 'removeSecret', target: 'PORTAL' },
    ])
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

  it('with one half says which one is missing', async () => {
    const { cookie, 'keepup-session': key } = (await open('auditor')).headers
    const said = async (headers: Record<string, string>) =>
      ((await (await send(null, 'GET', '/v1/access/me', { headers })).json()) as { detail: string }).detail
    expect(await said({ cookie })).toMatch(/send the header keepup-session with the "key"/)
    expect(await said({ 'keepup-session': key })).toMatch(/send the cookie keepup_\w+ that POST/)
    expect(await said({})).toMatch(/^send "Authorization: Bearer <key>"/)
  })

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

describe('separation of duties', () => {
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

describe('approvers', () => {
  interface Waiting {
    readonly approval: { readonly needed: number; readonly supporters: readonly { readonly by: string }[] }
    readonly questionHash: string
  }

  it('must be several people for a call of a run that started under the rule', { tags: ['git'] }, async () => {
    const before = await start('dora')
    const approvers = [{ tools: ['write_file'], count: 2 }]
    await ok('admin', 'PUT', '/v1/access/rules', { approvers })
    expect(await ok('viewer', 'GET', '/v1/access').catch(() => null)).toBeNull()
    expect(await ok('admin', 'GET', '/v1/access')).toMatchObject({ approvers, separation: true })
    await ok('admin', 'POST', '/v1/access/principals', { principal: 'eve', roles: ['approver'] })
    keys.set('eve', (await ok<{ key: string }>('admin', 'POST', '/v1/access/principals/eve/keys', {})).key)

    const run = await start('dora', { policy: { mode: 'batch' } })
    const call = await pending(run)
    const seen = () => ok<Waiting>('auditor', 'GET', `/v1/approvals/${call}`)
    expect((await seen()).approval).toMatchObject({ needed: 2, supporters: [] })
    expect(await approve('dora', call)).toBe('NOT_YOUR_OWN')
    await ok('admin', 'POST', '/v1/access/principals', { principal: 'bot', kind: 'service', roles: ['approver'] })
    keys.set('bot', (await ok<{ key: string }>('admin', 'POST', '/v1/access/principals/bot/keys', {})).key)
    expect(await approve('bot', call)).toBe('FORBIDDEN')
    expect(await codeOf(await world.answer(call, { decision: 'approved' }))).toBe('FORBIDDEN')
    const first = { decision: 'approved', questionHash: (await seen()).questionHash }
    expect(await ok('approver', 'POST', `/v1/approvals/${call}`, first)).toMatchObject({
      ...{ missing: 1, note: '1 of 2 people approved; one more is needed' },
    })
    expect((await seen()).approval).toMatchObject({ state: 'pending', supporters: [{ by: 'approver:approver' }] })
    const { asks } = await ok<{ asks: readonly { text: string }[] }>('auditor', 'GET', `/v1/runs/${run}`)
    expect(asks.map(({ text }) => text)).toEqual([expect.stringContaining('1 of 2 approvals, by approver')])
    expect(await approve('approver', call)).toBe('APPROVAL_REPEATED')
    expect(await approve('dora', call)).toBe('NOT_YOUR_OWN')
    // The approval of a person who has lost the role does not count.
    await ok('admin', 'POST', '/v1/access/principals/approver/take', { role: 'approver' })
    const body = { decision: 'approved', questionHash: (await seen()).questionHash }
    const answer = await ok<{ note: string }>('eve', 'POST', `/v1/approvals/${call}`, body)
    expect(answer.note).toMatch(
      /^1 of 2 people approved; one more is needed; .*may not decide any more.* do not count: approver$/,
    )
    await ok('admin', 'POST', '/v1/access/principals/approver/grant', { role: 'approver' })
    expect((await seen()).approval).toMatchObject({ state: 'pending', supporters: [{ by: 'approver:approver' }, {}] })
    const last = { decision: 'approved', questionHash: (await seen()).questionHash }
    expect(Object.keys(await ok('approver', 'POST', `/v1/approvals/${call}`, last))).not.toContain('note')

    await world.services.read.caughtUp()
    expect(await ok('auditor', 'GET', `/v1/runs/${run}/decisions?call=${call}`)).toMatchObject({
      decisions: [
        { decision: 'allowed', principal: 'approver:approver', needed: 2, supporters: [{ by: 'approver:eve' }] },
      ],
    })
    // Neither the service nor the owner of the data folder could have approved it, and who saw the question is recorded.
    await world.services.uses.record()
    interface Report {
      readonly decisions: readonly { readonly could: readonly { readonly principal: string }[] | null }[]
      readonly reads: readonly object[]
      readonly refused: readonly object[]
    }
    const { run: report } = await ok<{ run: Report }>('auditor', 'GET', `/v1/access/report?run=${run}`)
    const could = report.decisions.flatMap((one) => one.could!.map(({ principal }) => principal))
    expect(could).toEqual(expect.arrayContaining(['approver', 'eve']))
    expect(could.filter((one) => ['bot', 'recovery'].includes(one))).toEqual([])
    expect(report.reads).toContainEqual(expect.objectContaining({ principal: 'auditor', operation: 'getApproval' }))
    expect(report.refused).toContainEqual(
      expect.objectContaining({
        principal: 'approver',
        operation: 'decide_approval',
        reason: 'APPROVAL_REPEATED',
        count: 1,
      }),
    )
    const fork = { event: 1, workspace: world.workspace() }
    expect(await codeOf(await send('operator', 'POST', `/v1/runs/${before}/fork`, { body: fork }))).toBe('SPEC_REFUSED')
    await ok('admin', 'PUT', '/v1/access/rules', { approvers: [] })
  })

  it('keep the rules that another admin added in the meantime', async () => {
    const rule = (tool: string) => ({ tools: [tool], count: 2 })
    for (const tool of ['send', 'pay', 'send'])
      await ok('admin', 'PUT', '/v1/access/rules', { addApprovers: [rule(tool)] })
    expect(await ok('admin', 'GET', '/v1/access')).toMatchObject({ approvers: [rule('send'), rule('pay')] })
    await ok('admin', 'PUT', '/v1/access/rules', { approvers: [] })
  })
})

describe('two linked ids of one person', () => {
  const add = async (principal: string, ...roles: Role[]) => {
    await ok('admin', 'POST', '/v1/access/principals', { principal, roles })
    keys.set(principal, (await ok<{ key: string }>('admin', 'POST', `/v1/access/principals/${principal}/keys`, {})).key)
  }
  const linking = (who: string, way: 'link' | 'unlink', principal: string, other: string) =>
    send(who, 'POST', `/v1/access/principals/${principal}/${way}`, { body: { other } })
  beforeAll(async () => {
    await add('fay', 'operator', 'approver')
    await add('fay@corp', 'operator', 'approver')
    await add('boss', 'admin')
  })

  it('ask for a run and approve its calls as one person', { tags: ['git'] }, async () => {
    const call = await pending(await start('fay'))
    expect((await linking('admin', 'link', 'fay', 'fay@corp')).status).toBe(200)
    expect(await approve('fay@corp', call)).toBe('NOT_YOUR_OWN')
    const other = await pending(await start('fay@corp'))
    expect(await approve('fay', other)).toBe('NOT_YOUR_OWN')
    const { run } = await ok<{
      run: { decisions: readonly { could: readonly { principal: string; excluded: boolean }[] }[] }
    }>('auditor', 'GET', `/v1/access/report?call=${call}`)
    const excluded = run.decisions[0]!.could.filter((one) => one.excluded).map(({ principal }) => principal)
    expect(excluded).toEqual(['fay', 'fay@corp'])
    expect(await approve('approver', call)).toBeNull()
  })

  it('count as one of several people, also when they were linked after both had approved', {
    tags: ['git'],
  }, async () => {
    await ok('admin', 'PUT', '/v1/access/rules', { approvers: [{ tools: ['write_file'], count: 3 }] })
    await add('gus', 'approver')
    await add('gus@corp', 'approver')
    const call = await pending(await start('operator', { policy: { mode: 'batch' } }))
    expect(await approve('fay', call)).toBeNull()
    expect(await approve('fay@corp', call)).toBe('APPROVAL_REPEATED')
    expect(await approve('gus', call)).toBeNull()
    await linking('admin', 'link', 'gus', 'gus@corp')
    const second = await pending(await start('operator', { policy: { mode: 'batch' } }))
    await linking('boss', 'unlink', 'gus', 'gus@corp')
    for (const one of ['gus', 'gus@corp']) expect(await approve(one, second)).toBeNull()
    await linking('admin', 'link', 'gus', 'gus@corp')
    const { questionHash } = await ok<{ questionHash: string }>('admin', 'GET', `/v1/approvals/${second}`)
    const answer = await ok('approver', 'POST', `/v1/approvals/${second}`, { decision: 'approved', questionHash })
    expect(answer).toMatchObject({ missing: 1, note: expect.stringMatching(/^2 of 3 people .* do not count: gus$/) })
    await ok('admin', 'PUT', '/v1/access/rules', { approvers: [] })
  })

  it('are named in the list and the report, with each change', { tags: ['git'] }, async () => {
    const { principals } = await ok<{ principals: readonly { id: string; linked: readonly string[] }[] }>(
      ...(['admin', 'GET', '/v1/access/principals'] as const),
    )
    expect(principals.find(({ id }) => id === 'fay')?.linked).toEqual(['fay@corp'])
    const { log } = await ok<{
      log: { principals: readonly object[]; changes: readonly { type: string; by: string; change: object }[] }
    }>('auditor', 'GET', '/v1/access/report')
    expect(log.principals).toContainEqual(expect.objectContaining({ id: 'fay@corp', linked: ['fay'] }))
    expect(log.changes.filter(({ type }) => type === 'principals_unlinked')).toMatchObject([
      { by: 'user:boss', change: { principal: 'gus', other: 'gus@corp' } },
    ])
    await world.services.read.caughtUp()
    const { value: rows } = await world.services.read.rows((db) =>
      db.selectFrom('principal_links').selectAll().where('principal', '=', 'fay').execute(),
    )
    expect(rows).toMatchObject([{ other: 'fay@corp', change: 'linked', changed_by: 'user:ann', reason: null }])
  })

  it('are recorded with a reason, and the question about rights names them under both ids', async () => {
    await add('hal', 'operator')
    await add('hal@corp', 'operator')
    const body = { other: 'hal@corp', reason: 'the account at the issuer' }
    await ok('admin', 'POST', '/v1/access/principals/hal/link', body)
    for (const person of ['hal', 'hal@corp']) {
      const { rows } = await ok<{ rows: readonly (readonly unknown[])[] }>(
        ...(['auditor', 'GET', `/v1/ask/rights?person=${encodeURIComponent(person)}`] as const),
      )
      expect(rows).toContainEqual(expect.arrayContaining(['hal', 'hal@corp', 'linked', body.reason]))
    }
  })

  it('are not unlinked by that person, and never link an id to itself or to nobody', async () => {
    await add('ann@corp', 'operator')
    expect((await linking('admin', 'link', 'ann', 'ann@corp')).status).toBe(200)
    expect(await codeOf(await linking('admin', 'unlink', 'ann@corp', 'ann'))).toBe('NOT_YOUR_OWN')
    expect((await linking('boss', 'unlink', 'ann@corp', 'ann')).status).toBe(200)
    expect(await codeOf(await linking('admin', 'link', 'ann', 'ann'))).toBe('LINK_INVALID')
    expect(await codeOf(await linking('admin', 'link', 'ann', 'nobody'))).toBe('PRINCIPAL_UNKNOWN')
  })
})

describe('the permissions of another agent', () => {
  const body = () => ({ agent: 'asker', task: 'tidy up', workspace: world.workspace() })
  const asked = async (who: string) => {
    const { runId } = await ok<{ runId: string }>(who, 'POST', '/v1/runs', body())
    await expect.poll(() => pending(runId).catch(() => null)).not.toBeNull()
    return { runId, call: await pending(runId) }
  }

  it('are not decided by whoever asked for the run, admins too', { tags: ['git'] }, async () => {
    const { runId, call } = await asked('dora')
    expect(await approve('dora', call)).toBe('NOT_YOUR_OWN')
    expect(await approve('approver', call)).toBeNull()
    await world.services.agents!.at(runId)?.completion
    const { run } = await ok<{ run: object }>('auditor', 'GET', `/v1/runs/${runId}`)
    expect(run).toMatchObject({ status: 'completed', summary: 'approved' })
    const admins = await asked('admin')
    expect(await approve('admin', admins.call)).toBe('NOT_YOUR_OWN')
    expect(await approve('approver', admins.call)).toBeNull()
  })

  it('are given by nobody where several people must approve', { tags: ['git'] }, async () => {
    const before = await asked('dora')
    const rules = (approvers: readonly object[]) => ok('admin', 'PUT', '/v1/access/rules', { approvers })
    await rules([{ tools: ['pay'], count: 2 }])
    const other = await asked('dora')
    expect(await approve('approver', other.call)).toBeNull()
    for (const rule of [{ tools: ['run_command'] }, { tools: ['*'], effects: ['irreversible'] }]) {
      await rules([{ ...rule, count: 2 }])
      expect(await codeOf(await send('dora', 'POST', '/v1/runs', { body: body() }))).toBe('SPEC_REFUSED')
      expect(await approve('approver', before.call)).toBe('RUN_UNGOVERNED')
    }
    // The agent's own name for the tool.
    await rules([{ tools: ['execute'], count: 2 }])
    expect(await approve('approver', before.call)).toBe('RUN_UNGOVERNED')
    const { questionHash } = await ok<{ questionHash: string }>('admin', 'GET', `/v1/approvals/${before.call}`)
    await ok('approver', 'POST', `/v1/approvals/${before.call}`, { decision: 'rejected', questionHash })
    await rules([])
  })
})

describe('a viewer', () => {
  it('sees runs without the texts of people, models and tools', async () => {
    const body = { task: 'finish the secret plan', model: world.model, drive: true }
    const { runId } = await ok<{ runId: string }>('operator', 'POST', '/v1/runs', body)
    await world.services.drivers.ended(runId)
    for (const path of ['/v1/runs', `/v1/runs/${runId}`, `/v1/runs/${runId}/tree`]) {
      expect(await (await send('viewer', 'GET', path)).text()).not.toMatch(/secret plan/)
      expect(await (await send('auditor', 'GET', path)).text()).toMatch(/secret plan/)
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
    const subject = { issuer: 'https://login.example.org', subject: '00u1' }
    await ok('admin', 'POST', '/v1/access/principals', { principal: 'finn', name: 'Finn Forgotten', subject })
    const body = { reason: 'asked for' }
    await ok('admin', 'POST', '/v1/streams/access-rights/erase', body)
    expect(await (await send('admin', 'GET', '/v1/access/principals?limit=500')).text()).not.toMatch(/Forgotten/)
    expect((await send('admin', 'GET', '/v1/streams/access-rights/verify')).status).toBe(200)
    // The subject still belongs to finn.
    const again = await send('admin', 'POST', '/v1/access/principals', { body: { principal: 'finn2', subject } })
    expect(await codeOf(again)).toBe('SUBJECT_EXISTS')
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

describe('a token file that cannot be used', () => {
  const broken = () => {
    throw new TokenError('readable for other users')
  }

  it('ends the token and the sessions, but no key', async () => {
    const { http } = appOver(world.services, world.model, { token: broken })
    const status = async (headers: Record<string, string>) =>
      (await http.fetch(new Request('http://localhost/v1/access/me', { headers }))).status
    expect(await status({ authorization: `Bearer ${TOKEN}` })).toBe(401)
    expect(await status({ authorization: `Bearer ${keys.get('viewer')}` })).toBe(200)
    expect(await status({ cookie: 'keepup_session=a.b.c.d', 'keepup-session': 'x' })).toBe(401)
    expect(await status({})).toBe(401)
  })
})

describe('an export', () => {
  it('breaks when the key of its reader ends, so that no reader takes the part for the whole', async () => {
    const made = await ok<{ id: string; key: string }>('admin', 'POST', '/v1/access/principals/auditor/keys', {})
    const store = world.services.contexts.open('large', { kind: 'user', id: 'ann' })
    for (let n = 0; n < 40; n++) await store.set(`v${n}`, 'x'.repeat(60_000))
    const answer = await send(made.key, 'GET', '/v1/streams/context-large/export')
    const reader = answer.body!.getReader()
    expect((await reader.read()).done).toBe(false)
    await ok('admin', 'POST', `/v1/access/keys/${made.id}/revoke`, {})
    const late = performance.now() + 10_000
    const now = vi.spyOn(performance, 'now').mockImplementation(() => late)
    const rest = async () => {
      while (!(await reader.read()).done);
    }
    await expect(rest().finally(() => now.mockRestore())).rejects.toThrow('key or session')
  })
})

describe('a stream of events', () => {
  it('contains the events of the kinds of streams that its reader may read', async () => {
    const body = { task: 'finish it', model: world.model, drive: true }
    const { runId } = await ok<{ runId: string }>('operator', 'POST', '/v1/runs', body)
    await world.services.drivers.ended(runId)
    const kindsOf = async (role: Parameters<typeof send>[0]) => {
      const answer = await send(role, 'GET', '/v1/events?follow=false', { headers: { accept: 'application/x-ndjson' } })
      const lines = (await answer.text()).split('\n').filter((line) => line.trim() !== '')
      const kinds = new Set(lines.map((line) => (JSON.parse(line) as { stream: string }).stream.split('-')[0]))
      return ['agent', 'access'].filter((kind) => kinds.has(kind))
    }
    expect(await kindsOf('operator')).toEqual(['agent'])
    expect(await kindsOf('approver')).toEqual(['agent'])
    expect(await kindsOf('viewer')).toEqual([])
    expect(await kindsOf('auditor')).toEqual(['agent', 'access'])
  })

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

describe('an export', () => {
  it('of events needs the right to texts too, and its reads are recorded', async () => {
    const key = (rights: readonly Right[]) =>
      ok<{ key: string }>('admin', 'POST', '/v1/access/principals/auditor/keys', { rights })
    const status = async (who: string, of: 'events' | 'tables') => {
      const response = await send(who, 'GET', `/v1/exports/${of}`)
      await response.text()
      return response.status
    }
    const { key: events } = await key(['log.read'])
    const { key: both } = await key(['log.read', 'bodies.read'])
    const { key: tables } = await key(['tables.ask'])
    expect([await status(events, 'events'), await status(both, 'events'), await status(tables, 'events')]).toEqual([
      ...[403, 200, 403],
    ])
    expect([await status(both, 'tables'), await status(tables, 'tables')]).toEqual([403, 200])
    await world.services.uses.record()
    const lines = (await (await send('auditor', 'GET', '/v1/exports/events')).text()).split('\n')
    for (const operation of ['exportEvents', 'exportTables'])
      expect(lines.some((line) => line.includes('"read_audited"') && line.includes(operation))).toBe(true)
  })
})
