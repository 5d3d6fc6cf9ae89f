import { afterAll, describe, expect, it } from 'vitest'
import { clientOf } from '../../../api/cli/client.ts'
import { following } from '../../../api/process/embedded/live-tables.ts'
import { readModelOf } from '../../../api/process/tables/projected-read-model.ts'
import type { Tables } from '../../../api/process/tables/table-answers.ts'
import { ProjectionError } from '../../../projections/engine/errors.ts'
import { openWorld } from '../support/http.ts'

// A full disk keeps the tables from being brought up to the log, and readers go on.

const full = () => Object.assign(new Error('database or disk is full'), { errcode: 13 })

describe('tables that find no room', () => {
  it('go on when there is room again, which is told once; anything else ends them', async () => {
    const told: string[] = []
    const ends = [full(), full(), full(), null, new Error('never reached')]
    const run = async () => {
      const end = ends.shift()
      if (end) throw end
    }
    await following({ run }, new AbortController().signal, (text) => told.push(text), 1)
    expect([ends.length, told]).toEqual([1, [expect.stringContaining('make room on the disk')]])
    await following({ run }, new AbortController().signal, (text) => told.push(text), 1)
    expect([ends.length, told[1]]).toEqual([0, expect.stringContaining('never reached')])
    const over = new AbortController()
    const waiting = following({ run: () => Promise.reject(full()) }, over.signal, () => over.abort(), 2 ** 30)
    expect(await waiting).toBeUndefined()
  })

  it('are not current; what else keeps them back is thrown', async () => {
    const why = { error: full() as Error }
    const stopped = () => new ProjectionError('STOPPED', 'the projector has stopped', { cause: why.error })
    const tables = { caughtUpTo: async () => Promise.reject(stopped()) } as unknown as Tables
    const log = { headCursor: async () => ({}) }
    const read = readModelOf(tables, { log } as never)
    expect(await read.current()).toBe(false)
    await expect(read.caughtUp()).rejects.toThrow('stopped')
    why.error = new Error('damaged')
    await expect(read.current()).rejects.toThrow('stopped')
  })
})

describe('answers', async () => {
  const world = await openWorld()
  afterAll(() => world.close())
  const { read } = world.services

  it('are given, and say that they are old', async () => {
    const id = await world.driven('finish')
    const paths = [
      '/v1/runs',
      `/v1/runs/${id}`,
      `/v1/runs/${id}/events`,
      '/v1/approvals',
      '/v1/artifacts',
      '/v1/doubts',
    ]
    const lags = async (path: string) => {
      const answer = await world.ask('GET', path)
      return [path, answer.status, answer.headers.get('keepup-lags')]
    }
    for (const path of paths) expect(await lags(path)).toEqual([path, 200, null])
    const { current } = read
    Object.assign(read, { current: async () => false })
    for (const path of paths) expect(await lags(path)).toEqual([path, 200, 'disk-full'])
    let noted = 0
    const client = clientOf({ fetch: (request: Request) => askAs(request) } as never, () => noted++)
    const askAs = (request: Request) => world.ask('GET', new URL(request.url).pathname)
    expect((await client.v1.runs.$get({ query: {} })).status).toBe(200)
    expect(noted).toBe(1)
    Object.assign(read, { current })
  })
})
