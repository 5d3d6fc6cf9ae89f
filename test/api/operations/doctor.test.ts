import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { examine, examineMachine, joined } from '../../../api/operations/doctor/examine.ts'
import { bad, type Finding, ok } from '../../../api/operations/doctor/finding.ts'
import { checkModels } from '../../../api/operations/doctor/models.ts'
import { DOCTOR_OPERATIONS } from '../../../api/operations/doctor/operations.ts'
import type { Services } from '../../../api/operations/services.ts'
import { RIGHTS, type Right, ROLE_TABLE } from '../../../domain/access/rights.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, services } = world

const findings = async (query = '') =>
  (await bodyOf<{ findings: Finding[] }>(await ask('GET', `/v1/doctor${query}`))).findings

it('examines the machine and all open parts, and each fault has a remedy', { tags: ['git'] }, async () => {
  await world.driven('finish')
  const found = await findings()
  const names = new Set(found.map(({ check }) => check))
  for (const name of [
    'node',
    'data folder',
    'disk',
    'clock',
    'git',
    'keepup',
    'drivers',
    'log',
    'log end',
    'tables',
    'event loop',
  ])
    expect(names).toContain(name)
  expect(found.filter(({ state, todo }) => (todo === null) !== (state === 'ok'))).toEqual([])
  expect(found.find(({ check }) => check === 'log')).toMatchObject({ state: 'ok', found: services.log.logId })
  expect(found.find(({ check }) => check === 'rows')?.found).toMatch(/^[1-9]\d* of \d+ streams compared/)
  const parts = await findings('?machine=false')
  expect(parts.map(({ check }) => check)).not.toContain('disk')
  expect(parts.map(({ check }) => check)).toContain('tables')
})

it('an examination is shared by callers with the same rights at the same time', async () => {
  const machine = vi.spyOn(services, 'machine')
  onTestFinished(() => machine.mockRestore())
  const shared = { ...services }
  const asked = (rights: readonly Right[]) => {
    const identity = { principal: 'ann', key: null, rights: new Set(rights) }
    return DOCTOR_OPERATIONS[0].run(
      shared,
      { query: { machine: 'true' } },
      { options: { identity }, overNetwork: false },
    )
  }
  const [one, two] = await Promise.all([asked(RIGHTS), asked(RIGHTS)])
  expect(two).toBe(one)
  expect(machine).toHaveBeenCalledTimes(1)
  // A person who checks again after a change sees the change.
  expect(await asked(RIGHTS)).not.toBe(one)
  expect(machine).toHaveBeenCalledTimes(2)
  await asked(ROLE_TABLE.viewer)
  expect(machine).toHaveBeenCalledTimes(2)
})

it('a viewer gets no finding that needs another right', async () => {
  const identity = { principal: 'ann', key: null, rights: new Set(ROLE_TABLE.viewer) }
  const [one] = DOCTOR_OPERATIONS
  const asked = await one.run(
    { ...services },
    { query: { machine: 'true' } },
    { options: { identity }, overNetwork: true },
  )
  const { findings } = asked as { findings: readonly Finding[] }
  const found = new Map(findings.map(({ check, found }) => [check, found]))
  for (const [check, right] of Object.entries({
    machine: 'system.operate',
    rows: 'log.verify',
    'signed heads': 'log.verify',
    backup: 'access.read',
  }))
    expect(found.get(check)).toBe(`not checked: the caller lacks the right ${right}`)
  for (const check of ['data folder', 'settings', 'secrets', 'anchor', 'log key']) expect(found.has(check)).toBe(false)
  expect(found.get('log')).toBe(services.log.logId)
})

it('the names of weak secrets need the right secrets.read', async () => {
  const machine = async () => [ok('disk', 'a'), bad('warning', 'secrets', 'SHORT', 'set a longer one')]
  expect(await examineMachine({ machine }, new Set<Right>(['system.operate']))).toEqual([
    ok('disk', 'a'),
    ok('secrets', 'not checked: the caller lacks the right secrets.read'),
  ])
})

const over = (changed: object) => ({ ...services, ...changed }) as Services

it('a log or tables that do not answer are broken, and nothing else asks them', async () => {
  const silent = { state: 'silent', why: 'no answer within 2 s' } as const
  const unasked = new Proxy({}, { get: (_, name) => () => Promise.reject(new Error(`${String(name)} was asked`)) })
  for (const ready of [
    { log: silent, tables: null },
    { log: null, tables: silent },
  ]) {
    const found = await examine(over({ ready: async () => ready, read: unasked, consumers: unasked }), null)
    const broken = found.filter(({ check, state }) => state !== 'ok' && check !== 'event loop')
    expect(broken).toMatchObject([{ check: ready.log === null ? 'tables' : 'log', state: 'broken', found: silent.why }])
  }
})

it('a check that fails is a warning, and the others are made', async () => {
  const webhooks = { list: () => Promise.reject(new Error('the store of positions is closed')) }
  const found = await examine(over({ webhooks }), null)
  expect(found.find(({ check }) => check === 'webhooks')).toMatchObject({
    ...{ state: 'warning', found: 'the store of positions is closed' },
  })
  expect(found.map(({ check }) => check)).toContain('rows')
})

it('names models that fail, with the reason, and none that was not called', async () => {
  const figures = { calls: 10, errors: 6, timeouts: 0, medianMs: 12, health: 'unhealthy', breach: 'errorRate' }
  const models = () => ({
    models: [
      { id: 'a', figures },
      { id: 'b', figures: null },
    ],
  })
  expect(await checkModels(over({ models }))).toMatchObject([
    { check: 'model', state: 'warning', found: expect.stringMatching(/^a: 6 errors.*too many errors$/) },
  ])
})

it('tables that are behind are reported with the count', async () => {
  const status = { ...(await services.read.status()), behind: 10_000 }
  const read = { ...services.read, status: async () => status }
  const found = await examine(over({ read }), null)
  expect(found.find(({ check }) => check === 'tables')).toMatchObject({
    ...{ state: 'warning', found: '10000 events behind the log' },
  })
})

it('a check of the machine is not repeated, and rows of damaged tables are left out', () => {
  const parts = [ok('log', 'a'), ok('rows', 'b'), ok('consumer', 'c')]
  expect(joined([ok('log', 'x')], parts)).toEqual([ok('log', 'x'), ok('rows', 'b'), ok('consumer', 'c')])
  const damaged = bad('warning', 'tables', 'altered', 'rebuild')
  expect(joined([damaged], parts)).toEqual([damaged, ok('log', 'a'), ok('consumer', 'c')])
  const silent = bad('broken', 'log', 'replaced', 'restart')
  expect(joined([ok('log', 'x')], [silent])).toEqual([ok('log', 'x'), silent])
  const broken = bad('broken', 'tables', 'silent', 'restart')
  expect(joined([damaged], [broken])).toEqual([damaged, broken])
  expect(joined([silent], [ok('log', 'x'), damaged])).toEqual([silent, damaged])
})
