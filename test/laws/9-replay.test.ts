import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import type { RuntimePorts } from '../../domain/ports/runtime.ts'
import { law } from '../support/laws.ts'
import { planArbitrary } from '../support/plans.ts'
import { NEVER } from '../support/process.ts'
import { World } from '../support/world.ts'

// Law 9: replay performs nothing. Every port but the log and the blobs throws when it is touched.

const forbidden = (what: string) => (): never => {
  throw new Error(`replay touched ${what}`)
}

test('replay and proof touch no model, tool, clock, randomness or workspace, and write nothing', async () => {
  await law(planArbitrary, 25, async (plan) => {
    const world = new World(plan)
    await world.live()
    const { log, blobs } = world
    const readOnly = new Proxy(log, {
      get(target, key) {
        if (key === 'append') return forbidden('append')
        const value = Reflect.get(target, key) as unknown
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const ports: RuntimePorts = {
      log: readOnly,
      blobs: {
        get: (...args) => blobs.get(...args),
        put: forbidden('blobs.put'),
        list: forbidden('blobs.list'),
        delete: forbidden('blobs.delete'),
      },
      clock: { now: forbidden('clock.now'), sleep: forbidden('clock.sleep') },
      random: { bytes: forbidden('random') },
      feed: { publish: forbidden('feed') },
      build: 'test',
      provider: forbidden('provider'),
      hasTool: forbidden('hasTool'),
      secrets: forbidden('secrets'),
      environment: forbidden('environment'),
    }
    const replaying = new Runtime(ports)
    const head = await log.head(`agent-${world.runId}`)
    const effects = [...world.effects]
    const { state } = await replaying.at(world.runId, null)
    for (let step = 1; step <= state.step; step++) await replaying.at(world.runId, { step })
    for (let revision = 0; revision <= state.revision; revision++) await replaying.at(world.runId, { revision })
    expect((await replaying.verify(world.runId)).ok).toBe(true)
    expect([...world.effects]).toEqual(effects)
    expect(await log.head(`agent-${world.runId}`)).toEqual(head)
    // A drive bounds its reads, and finds no effect to perform.
    const driving = new Runtime({ ...ports, clock: { now: forbidden('clock.now'), sleep: () => NEVER } })
    await expect(driving.drive(world.runId, { signal: new AbortController().signal })).resolves.toMatchObject({
      end: expect.stringMatching(/^(done|error)$/),
    })
  })
})

test('what replay shows is what the model was sent', async () => {
  await law(planArbitrary, 20, async (plan) => {
    const world = new World(plan)
    await world.live()
    const calls = (await world.events()).filter((event) => event.type === 'model_call_start')
    // One request for each recorded intent, with the messages that replay shows at that intent.
    for (const [n, request] of world.requests.entries()) {
      const at = await world.process.runtime.at(world.runId, { revision: calls[n]!.revision })
      expect(at.messages).toEqual(request.messages)
    }
  })
})

test('the plans make their runs ask a model', async () => {
  let requests = 0
  // Fixed: whether a sample reaches something must not depend on chance.
  for (const plan of fc.sample(planArbitrary, { numRuns: 10, seed: 5 })) {
    const world = new World(plan)
    await world.live()
    requests += world.requests.length
  }
  expect(requests).toBeGreaterThan(10)
})
