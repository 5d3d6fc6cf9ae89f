import { afterAll, describe, expect, it } from 'vitest'
import { OVER_NETWORK } from '../../../api/http/network.ts'
import { sweepRetention } from '../../../api/operations/keeping/sweep.ts'
import { MAX_ERASED } from '../../../domain/stream/erasure.ts'
import { bodyOf, openWorld } from '../support/http.ts'

// Retention and legal holds over HTTP, first with access off, then with access on.

const world = await openWorld()
afterAll(() => world.close())

const DAY_MS = 86_400_000
const later = (days: number) => ({
  ...world.services,
  clock: { ...world.services.clock, now: () => Date.now() + days * DAY_MS },
})
const ask = async <T = Record<string, unknown>>(method: string, path: string, body?: object) => {
  const answer = await world.ask(method, path, body === undefined ? {} : { body })
  return { status: answer.status, ...(await bodyOf<T & { code?: string; detail?: string }>(answer)) }
}
const hold = (of: string) =>
  ask<{ hold: string; of: string }>('POST', '/v1/holds', { of, reason: 'the matter of Smith' })
const lift = (id: string) => ask('POST', `/v1/holds/${id}/lift`, { reason: 'settled' })
const erase = (run: string) => ask('POST', `/v1/runs/${run}/erase`, { all: true, reason: 'asked for' })
const verified = async (run: string) =>
  (await ask<{ ok: boolean; erased: { code: string }[] }>('GET', `/v1/streams/agent-${run}/verify`)).erased

describe('a hold', () => {
  it('on a run refuses its erasure, also a dry run, until it is lifted', async () => {
    const run = await world.driven('finish')
    const { hold: id, of } = await hold(run)
    expect(of).toBe(`agent-${run}`)
    for (const body of [{ all: true }, { all: true, dryRun: true }, { revision: 0 }]) {
      const refused = await ask('POST', `/v1/runs/${run}/erase`, { reason: 'x', ...body })
      expect([refused.status, refused.code]).toEqual([409, 'HELD'])
      expect(refused.detail).toContain(`keepup hold lift ${id}`)
    }
    expect(await verified(run)).toEqual([])
    expect((await lift(id)).status).toBe(200)
    expect((await erase(run)).status).toBe(200)
    expect((await verified(run)).length).toBeGreaterThan(0)
  })

  it('of two on one run keeps it until both are lifted', async () => {
    const run = await world.driven('finish')
    const [one, two] = [await hold(run), await hold(`agent-${run}`)]
    await lift(one.hold)
    expect((await erase(run)).code).toBe('HELD')
    await lift(two.hold)
    expect((await erase(run)).status).toBe(200)
  })

  it('on a fork holds the part of its source that it continues, and no other run', async () => {
    const [source, other] = [await world.driven('finish'), await world.driven('finish')]
    const { runId: fork } = await ask<{ runId: string }>('POST', `/v1/runs/${source}/fork`, { event: 3, drive: false })
    const { hold: id } = await hold(fork)
    const refused = async (body: object) =>
      (await ask('POST', `/v1/runs/${source}/erase`, { reason: 'x', dryRun: true, ...body })).code
    expect(await refused({ all: true })).toBe('HELD')
    expect(await refused({ revision: 3 })).toBe('HELD')
    expect(await refused({ revision: 4 })).toBeUndefined()
    expect((await erase(other)).status).toBe(200)
    await lift(id)
    expect((await erase(source)).status).toBe(200)
  })

  it('refuses the erasure of a store, and of the holds themselves', async () => {
    const actor = { kind: 'user', id: 'ann' } as const
    await world.services.contexts.open('desk', actor).set('a', 'text')
    const cases = [
      [`context-desk`, '/v1/context-stores/desk/erase', { all: true }],
      [`access-keeping`, '/v1/streams/access-keeping/erase', {}],
    ] as const
    for (const [of, path, body] of cases) {
      const { hold: id } = await hold(of)
      expect([of, (await ask('POST', path, { reason: 'x', ...body })).code]).toEqual([of, 'HELD'])
      await lift(id)
      expect([of, (await ask('POST', path, { reason: 'x', ...body })).status]).toEqual([of, 200])
    }
  })

  it('on a fact refuses to forget it with its text', async () => {
    const call = { runId: 'r', agentId: 'r', toolCallId: 'r.t1.c1', causationId: 'agent-r@1' }
    const { id } = (await world.services.memories.perform(
      { kind: 'remember', scope: 'global', place: '', text: 'the host is h' },
      { ...call, secrets: { json: (value) => value } },
    )) as { id: string }
    const { hold: held } = await hold(`memory-${id}`)
    const forget = () => ask('POST', `/v1/memories/${id}/forget`, { erase: true, reason: 'asked for' })
    expect((await forget()).code).toBe('HELD')
    const { changes } = await ask<{ changes: object[] }>('GET', `/v1/memories/${id}`)
    expect([changes.length, JSON.stringify(changes)]).toEqual([1, expect.stringContaining('the host is h')])
    await lift(held)
    expect((await forget()).status).toBe(200)
  })

  it('needs a run or stream that exists', async () => {
    expect((await hold('nothing')).status).toBe(404)
    expect((await hold('agent-nothing')).status).toBe(404)
    expect((await lift('00000000')).code).toBe('HOLD_UNKNOWN')
  })
})

describe('retention', () => {
  it('erases what is old enough, spares what is held, unfinished or younger, and says so', async () => {
    const [old, held, open] = [
      await world.driven('finish'),
      await world.driven('finish'),
      await world.started('finish', { drive: false }),
    ]
    const { hold: id } = await hold(held)
    await ask('PUT', '/v1/retention', { of: 'run', days: 30 })
    await world.services.read.caughtUp()
    expect((await sweepRetention(later(29), { dryRun: true, limit: 10 })).erased).toEqual([])
    const listed = await sweepRetention(later(31), { dryRun: true, limit: 10 })
    expect(listed.erased.map((one) => one.id)).toContain(old)
    expect(listed.erased.map((one) => one.id)).not.toContain(open)
    expect(listed.spared).toMatchObject([{ id: held, code: 'HELD' }])
    expect(await verified(old)).toEqual([])
    const swept = await sweepRetention(later(31), { dryRun: false, limit: 10 })
    expect(swept).toEqual({ ...listed, dryRun: false })
    expect(new Set((await verified(old)).map(({ code }) => code))).toEqual(new Set(['retention']))
    expect(await verified(held)).toEqual([])
    expect(await verified(open)).toEqual([])
    await lift(id)
    const again = await sweepRetention(later(31), { dryRun: false, limit: 10 })
    expect(again.erased.map((one) => one.id)).toEqual([held])
    expect((await sweepRetention(later(31), { dryRun: false, limit: 10 })).erased).toEqual([])
  })

  it('erases facts and values of stores after their last change, and no younger ones', async () => {
    const person = { kind: 'user', id: 'ann' } as const
    const call = { runId: 'r', agentId: 'r', toolCallId: 'r.t1.c0', causationId: 'agent-r@1' }
    const { id } = (await world.services.memories.perform(
      { kind: 'remember', scope: 'global', place: '', text: 'the port is 8080' },
      { ...call, secrets: { json: (value) => value } },
    )) as { id: string }
    await world.services.contexts.open('aged', person).set('a', 'text')
    await ask('PUT', '/v1/retention', { of: 'run', days: null })
    for (const of of ['memory', 'store']) await ask('PUT', '/v1/retention', { of, days: 7 })
    const held = (await hold(`memory-${id}`)).hold
    expect((await sweepRetention(later(6), { dryRun: false, limit: 10 })).erased).toEqual([])
    const first = await sweepRetention(later(8), { dryRun: false, limit: 10 })
    expect(first.erased.map((one) => [one.of, one.id])).toContainEqual(['store', 'aged'])
    expect(first.spared).toMatchObject([{ of: 'memory', id, code: 'HELD' }])
    await lift(held)
    const second = await sweepRetention(later(8), { dryRun: false, limit: 10 })
    expect(second).toMatchObject({ erased: [{ of: 'memory', id }], spared: [] })
    expect(JSON.stringify(await ask('GET', `/v1/streams/memory-${id}/events`))).not.toContain('8080')
    expect(await ask('GET', `/v1/streams/memory-${id}/verify`)).toMatchObject({ ok: true })
    expect((await sweepRetention(later(8), { dryRun: false, limit: 10 })).erased).toEqual([])
  })
})

describe('a sweep', () => {
  it('goes on with a stream whose erasure broke off after a full append', async () => {
    const store = world.services.contexts.open('long', { kind: 'user', id: 'ann' })
    for (let n = 0; n < MAX_ERASED + 3; n++) await store.set('a', `text ${n}`)
    await ask('PUT', '/v1/retention', { of: 'store', days: 7 })
    const only = new Set(Array.from({ length: MAX_ERASED }, (_, revision) => revision))
    const by = { kind: 'system', id: 'retention' } as const
    const why = { code: 'retention', reason: 'older than 7 days' } as const
    await world.services.streams.erase('context-long', { all: true, only }, why, { by, commandId: 'first' })
    const swept = await sweepRetention(later(8), { dryRun: false, limit: 10 })
    expect(swept.erased).toMatchObject([{ of: 'store', id: 'long', bodies: 3 }])
    expect((await sweepRetention(later(8), { dryRun: false, limit: 10 })).erased).toEqual([])
  })
})

describe('with access on', () => {
  const keys = new Map<string, string>()
  const as = async <T = Record<string, unknown>>(who: string, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${keys.get(who)}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await world.http.fetch(new Request(`http://localhost${path}`, init), OVER_NETWORK)
    return { status: answer.status, ...(await bodyOf<T & { code?: string }>(answer)) }
  }

  it('whoever lifted a hold cannot erase what it held, and each refused erasure is recorded', async () => {
    const run = await world.driven('finish')
    const { key } = await ask<{ key: string }>('POST', '/v1/access', { principal: 'ann' })
    keys.set('ann', key)
    for (const who of ['ben', 'cleo']) {
      const roles = [who === 'ben' ? 'admin' : 'auditor']
      await as('ann', 'POST', '/v1/access/principals', { principal: who, roles })
      keys.set(who, (await as<{ key: string }>('ann', 'POST', `/v1/access/principals/${who}/keys`, {})).key)
    }
    const { hold: id } = await as<{ hold: string }>('ann', 'POST', '/v1/holds', { of: run, reason: 'the matter' })
    const body = { all: true, reason: 'asked for' }
    expect((await as('ben', 'POST', `/v1/runs/${run}/erase`, body)).code).toBe('HELD')
    expect((await as('ben', 'POST', `/v1/runs/${run}/erase`, { ...body, dryRun: true })).code).toBe('HELD')
    expect((await as('cleo', 'POST', `/v1/holds/${id}/lift`, {})).code).toBe('FORBIDDEN')
    expect((await as<{ holds: object[] }>('cleo', 'GET', '/v1/holds')).holds).toMatchObject([
      { hold: id, of: `agent-${run}`, by: 'user:ann', lifted: null },
    ])
    await as('ann', 'POST', `/v1/holds/${id}/lift`, { reason: 'settled' })
    expect((await as('ann', 'POST', `/v1/runs/${run}/erase`, body)).code).toBe('NOT_YOUR_OWN')
    await as('ann', 'POST', '/v1/access/principals', { principal: 'ann@corp', roles: ['admin'] })
    const other = await as<{ key: string }>('ann', 'POST', '/v1/access/principals/ann@corp/keys', {})
    keys.set('ann@corp', other.key)
    await as('ann', 'POST', '/v1/access/principals/ann/link', { other: 'ann@corp' })
    expect((await as('ann@corp', 'POST', `/v1/runs/${run}/erase`, body)).code).toBe('NOT_YOUR_OWN')
    // Ann's own policy does not do it for her either.
    await as('ann', 'PUT', '/v1/retention', { of: 'run', days: 10 })
    const { spared } = await sweepRetention(later(11), { dryRun: false, limit: 10 })
    expect(spared).toMatchObject([{ id: run, code: 'NOT_YOUR_OWN' }])
    expect((await as('ben', 'POST', `/v1/runs/${run}/erase`, body)).status).toBe(200)
    await world.services.uses.record()
    await world.services.read.caughtUp()
    const answer = await as<{ rows: unknown[] }>('ann', 'POST', '/v1/sql', {
      sql: "select principal, operation, run_id, reason, count from access_uses where operation = 'erase' order by 1",
    })
    const refused = [
      ['ann', 'erase', run, 'NOT_YOUR_OWN', 1],
      ['ann@corp', 'erase', run, 'NOT_YOUR_OWN', 1],
      ['ben', 'erase', run, 'HELD', 1],
    ]
    expect(answer).toMatchObject({ status: 200, rows: refused })
  })
})
