import { afterAll, expect, it } from 'vitest'
import { sweep } from '../../api/runs/sweeper.ts'
import { eventsIn, openWorld } from './http-support.ts'

const world = await openWorld({ autoDrive: true })
afterAll(() => world.close())

const SWEEPS = 40

it('serve writes nothing to runs that wait for people, in any number of sweeps', async () => {
  const { services, driven, workspace } = world
  const batch = { policy: { mode: 'batch', requiresApproval: ['write_file'] } }
  // Of two calls that conflict the second is not even asked for yet.
  const shared = workspace()
  await driven('both', { workspace: shared, ...batch })
  await driven('both', { workspace: shared, ...batch })
  const before = await eventsIn(services)
  expect(before.filter(({ header }) => header.type === 'approval_requested').length).toBeGreaterThanOrEqual(2)
  const over = new AbortController()
  const from = services.clock.now()
  let sweeps = 0
  const clock = {
    now: () => from + sweeps * 300_000,
    sleep: async () => {
      await Promise.all(before.map(({ header }) => services.drivers.ended(header.agentId)))
      if (++sweeps === SWEEPS) over.abort()
    },
  }
  const { read, drivers } = services
  const fail = (error: unknown): never => {
    throw error
  }
  await sweep({ read, drivers, clock }, over.signal, fail, fail)
  const after = await eventsIn(services)
  expect(after.slice(before.length).map(({ header }) => `${header.agentId} ${header.type}`)).toEqual([])
})
