import { afterAll, expect, it } from 'vitest'
import { readiness } from '../../api/runs/readiness.ts'
import { LogError } from '../../domain/log/errors.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { appOver, bodyOf, openWorld } from './http-support.ts'

const world = await openWorld()
afterAll(() => world.close())

const READY = 'http://localhost/v1/ready'

it('says without a token that both answer, or which does not, and why to nobody', async () => {
  const well = await world.http.request(READY)
  expect([well.status, await bodyOf(well)]).toEqual([200, { ready: true, log: 'answers', tables: 'answers' }])
  const answer = { log: null as string | null, tables: null as string | null }
  const { http } = appOver({ ...world.services, ready: async () => answer }, world.model)
  for (const [part, other] of [
    ['log', 'tables'],
    ['tables', 'log'],
  ] as const) {
    Object.assign(answer, { [part]: 'no route to a-secret-host', [other]: null })
    const found = await http.request(READY)
    expect([found.status, await bodyOf(found)]).toEqual([503, { ready: false, [part]: 'silent', [other]: 'answers' }])
  }
})

it('takes for silent what does not answer in time, and asks it once at a time', async () => {
  let asked = 0
  let answer = Promise.withResolvers<never>()
  const headCursor = () => {
    asked++
    return answer.promise
  }
  const ready = readiness({ log: { headCursor }, read: { answers: async () => {} }, clock: new VirtualClock() })
  const silent = { log: 'no answer within 2 s', tables: null }
  expect(await Promise.all([ready(), ready()])).toEqual([silent, silent])
  expect([await ready(), asked]).toEqual([silent, 1])
  answer.reject(new LogError('LOG_UNAVAILABLE', 'the event store did not answer\nat length'))
  await answer.promise.catch(() => undefined)
  answer = Promise.withResolvers()
  answer.reject(new LogError('LOG_UNAVAILABLE', 'the event store did not answer\nat length'))
  expect([await ready(), asked]).toEqual([{ log: 'the event store did not answer', tables: null }, 2])
})
