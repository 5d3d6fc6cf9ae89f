import { afterAll, expect, it } from 'vitest'
import { examine, joined } from '../../../api/operations/doctor/examine.ts'
import { bad, type Finding, ok } from '../../../api/operations/doctor/finding.ts'
import { checkModels } from '../../../api/operations/doctor/models.ts'
import type { Services } from '../../../api/operations/services.ts'
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

const over = (changed: object) => ({ ...services, ...changed }) as Services

it('a log or tables that do not answer are broken, and nothing else asks them', async () => {
  const silent = { state: 'silent', why: 'no answer within 2 s' } as const
  const unasked = new Proxy({}, { get: (_, name) => () => Promise.reject(new Error(`${String(name)} was asked`)) })
  for (const ready of [
    { log: silent, tables: null },
    { log: null, tables: silent },
  ]) {
    const found = await examine(over({ ready: async () => ready, read: unasked, consumers: unasked }))
    const broken = found.filter(({ check, state }) => state !== 'ok' && check !== 'event loop')
    expect(broken).toMatchObject([{ check: ready.log === null ? 'tables' : 'log', state: 'broken', found: silent.why }])
  }
})

it('a check that fails is a warning, and the others are made', async () => {
  const webhooks = { list: () => Promise.reject(new Error('the store of positions is closed')) }
  const found = await examine(over({ webhooks }))
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
  const found = await examine(over({ read }))
  expect(found.find(({ check }) => check === 'tables')).toMatchObject({
    ...{ state: 'warning', found: '10000 events behind the log' },
  })
})

it('a check of the machine is not repeated, and rows of damaged tables are left out', () => {
  const parts = [ok('log', 'a'), ok('rows', 'b'), ok('consumer', 'c')]
  expect(joined([ok('log', 'x')], parts)).toEqual([ok('log', 'x'), ok('rows', 'b'), ok('consumer', 'c')])
  const damaged = bad('warning', 'tables', 'altered', 'rebuild')
  expect(joined([damaged], parts)).toEqual([damaged, ok('log', 'a'), ok('consumer', 'c')])
})
