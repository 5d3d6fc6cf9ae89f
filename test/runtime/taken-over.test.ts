import { expect, it } from 'vitest'
import { call, calls } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const DEAD = new Error('it died')

/** A run whose first driver dies at this point; what those after it tell of being taken over. */
async function dies(at: string | null) {
  const told: string[][] = []
  const takenOver = (...what: string[]) => void told.push(what)
  let dead = false
  const crashPoint = (name: string) => {
    if (dead || name !== at) return undefined
    dead = true
    return Promise.reject(DEAD)
  }
  const tools = [tool('look')]
  const done = calls(call('complete_task', { summary: 'done' }))
  const h = await given({ says: [calls(call('look')), done], tools, ports: { takenOver, crashPoint, driver: 'one' } })
  if (at !== null) await expect(h.drive()).rejects.toBe(DEAD)
  await h.elsewhere({ driver: 'two' }).drive(h.runId, { signal: new AbortController().signal })
  return { h, told }
}

it.each(['before_model', 'before_tool'])(
  'a driver that died %s is reported when its run goes on elsewhere',
  async (at) => {
    const { h, told } = await dies(at)
    const claims = await h.of('driver_claimed')
    expect(claims.map(({ body }) => body.driverId.split('-')[0])).toEqual(['one', 'two'])
    expect(told).toEqual([[h.runId, claims[0]!.body.driverId]])
    expect((await h.state()).machine.status).toBe('DONE')
  },
)

it('one that had nothing at work is not, nor is the first of all', async () => {
  expect((await dies('after_claim')).told).toEqual([])
  expect((await dies(null)).told).toEqual([])
})
