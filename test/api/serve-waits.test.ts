import { afterAll, expect, it } from 'vitest'
import { lockWorkspace } from '../../adapters/workspace/lock.ts'
import { sweep } from '../../api/runs/sweeper.ts'
import { eventsIn, openWorld } from './http-support.ts'

const world = await openWorld({ autoDrive: true })
afterAll(() => world.close())
const { services } = world

const SWEEPS = 40
const fail = (error: unknown): never => {
  throw error
}

/** What many sweeps write, while the clock goes on by five minutes each. */
async function writtenBySweeps(onNote: (text: string) => void): Promise<string[]> {
  const before = await eventsIn(services)
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
  await sweep({ read, drivers, clock }, over.signal, fail, onNote)
  const after = await eventsIn(services)
  return after.slice(before.length).map(({ header }) => `${header.agentId} ${header.type}`)
}

it('serve writes nothing to runs that wait for people, in any number of sweeps', async () => {
  const batch = { policy: { mode: 'batch', requiresApproval: ['write_file'] } }
  // Of two calls that conflict the second is not even asked for yet.
  const shared = world.workspace()
  await world.driven('both', { workspace: shared, ...batch })
  await world.driven('both', { workspace: shared, ...batch })
  const asked = (await eventsIn(services)).filter(({ header }) => header.type === 'approval_requested')
  expect(asked.length).toBeGreaterThanOrEqual(2)
  expect(await writtenBySweeps(fail)).toEqual([])
})

it('nor to a run whose folder another one has, which is told once', async () => {
  const workspace = world.workspace()
  const held = lockWorkspace(workspace, world.data, 'other')
  const id = await world.driven('finish', { workspace })
  const notes: string[] = []
  expect(await writtenBySweeps((text) => notes.push(text))).toEqual([])
  expect(notes).toEqual([expect.stringContaining(id)])
  held.release()
  services.drivers.start(id)
  await services.drivers.ended(id)
  expect(services.drivers.state(id).end).toEqual({ end: 'done' })
})
