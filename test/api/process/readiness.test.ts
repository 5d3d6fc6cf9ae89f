import { afterAll, expect, it } from 'vitest'
import { readiness, type Trouble } from '../../../api/operations/system/readiness.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { ProjectionError } from '../../../projections/engine/errors.ts'
import { VirtualClock } from '../../support/time/virtual-clock.ts'
import { appOver, bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())

const READY = 'http://localhost/v1/ready'

it('says without a token that both answer, or which does not, and keeps the reason to itself', async () => {
  const well = await world.http.request(READY)
  expect([well.status, await bodyOf(well)]).toEqual([
    200,
    { ready: true, log: 'answers', tables: 'answers', parked: 0, signed: true },
  ])
  const answer: { log: Trouble | null; tables: Trouble | null } = { log: null, tables: null }
  const { http } = appOver({ ...world.services, ready: async () => answer }, world.model)
  for (const [part, other] of [
    ['log', 'tables'],
    ['tables', 'log'],
  ] as const) {
    for (const state of ['silent', 'unusable'] as const) {
      Object.assign(answer, { [part]: { state, why: 'no route to a-secret-host' }, [other]: null })
      const found = await http.request(READY)
      const parked = part === 'tables' ? null : 0
      const signed = part === 'log' ? null : true
      const body = { ready: false, [part]: state, [other]: 'answers', parked, signed }
      expect([found.status, await bodyOf(found)]).toEqual([503, body])
    }
  }
})

it('takes for silent what does not answer in time, and asks it once at a time', async () => {
  let asked = 0
  let answer = Promise.withResolvers<never>()
  const headCursor = () => {
    asked++
    return answer.promise
  }
  const ready = readiness({
    log: { headCursor },
    losses: { refusal: null },
    read: { answers: async () => {} },
    clock: new VirtualClock(),
  })
  const silent = { log: { state: 'silent', why: 'no answer within 2 s' }, tables: null }
  expect(await Promise.all([ready(), ready()])).toEqual([silent, silent])
  expect([await ready(), asked]).toEqual([silent, 1])
  const why = 'the event store did not answer'
  answer.reject(new LogError('LOG_UNAVAILABLE', `${why}\nat length`))
  await answer.promise.catch(() => undefined)
  answer = Promise.withResolvers()
  answer.reject(new LogError('LOG_UNAVAILABLE', `${why}\nat length`))
  expect([await ready(), asked]).toEqual([{ log: { state: 'silent', why }, tables: null }, 2])
})

it('tells what does not answer from what answers that it cannot be used', async () => {
  const failing = async (log: Error, tables: Error) => {
    const asks = {
      log: { headCursor: async () => Promise.reject(log) },
      losses: { refusal: null },
      read: { answers: async () => Promise.reject(tables) },
    }
    return Object.values(await readiness({ ...asks, clock: new VirtualClock() })()).map((found) => found?.state)
  }
  const gone = new ProjectionError('UNAVAILABLE', 'PostgreSQL does not answer')
  expect(await failing(new LogError('LOG_CORRUPT', 'an event was changed'), gone)).toEqual(['unusable', 'silent'])
  for (const code of ['LOG_OTHER', 'REFUSED', 'NOT_FOUND'] as const)
    expect(await failing(new LogError('LOG_UNAVAILABLE', ''), new ProjectionError(code, ''))).toEqual([
      'silent',
      'unusable',
    ])
  expect(await failing(new LogError('LOG_REFUSED', ''), new TypeError('a slip'))).toEqual(['unusable', 'unusable'])
})

it('is not ready while a loss of the log is open, or where this process must start again', async () => {
  const asks = { log: { headCursor: async () => ({}) as never }, read: { answers: async () => {} } }
  for (const [code, state] of [
    ['LOG_SHORTENED', 'shortened'],
    ['LOG_REPLACED', 'replaced'],
  ] as const) {
    const ready = readiness({ ...asks, losses: { refusal: new LogError(code, 'why') }, clock: new VirtualClock() })
    const found = await ready()
    expect(found).toEqual({ log: { state, why: 'why' }, tables: null })
    const { http } = appOver({ ...world.services, ready: async () => found }, world.model)
    const answer = await http.request(READY)
    expect([answer.status, await bodyOf(answer)]).toMatchObject([503, { ready: false, log: state }])
  }
})

it('gives monitors gauges of the signed heads, with the token', async () => {
  expect((await world.http.request('http://localhost/v1/metrics')).status).toBe(401)
  const answer = await world.ask('GET', '/v1/metrics')
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await answer.text()).toMatch(/\nkeepup_log_key_missing 0\n/)
})
