import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { SqlitePositions } from '../../adapters/sqlite/positions.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { ConsumerModel } from '../support/consumers/world.ts'
import { tempFolder } from '../support/folders.ts'
import { property } from '../support/property.ts'
import { writer } from '../support/webhooks/world.ts'

// A consumer gets every event of its filter in the order of the log, from its position on. What was acked never comes
// again, whatever ends its readers. `npm run test:consumers` tries 20,000 cuts.

const CUTS = Number(process.env.CONSUMER_CUTS ?? 600)
const PER_PLAN = 12

const batches = fc.array(fc.record({ max: fc.integer({ min: 1, max: 9 }), ack: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
})
const step = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), run: fc.constantFrom('r1', 'r2'), count: fc.nat(6) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('session' as const), batches, within: fc.boolean() }) },
  fc.record({ kind: fc.constant('restart' as const) }),
)
const plan = fc.record({
  rare: fc.boolean(),
  steps: fc.array(step, { minLength: PER_PLAN, maxLength: PER_PLAN * 3, size: 'max' }),
})

interface Tried {
  cuts: number
  repeated: number
}

async function tryPlan(
  log: EventLog,
  folder: string,
  { rare, steps }: typeof plan extends fc.Arbitrary<infer P> ? P : never,
) {
  const positions = new SqlitePositions(join(folder, `${Math.random()}.db`))
  try {
    const model = new ConsumerModel(log, positions, rare ? { types: ['user_input'] } : {})
    const write = writer(log, String(Math.random()))
    await model.create()
    await model.grown()
    for (const one of steps) {
      if (one.kind === 'restart') model.restart()
      else if (one.kind === 'session') await model.session(one.batches, one.within)
      else {
        await write(`${one.run}x${Math.random()}`, one.count)
        await model.grown()
      }
    }
    await model.finish()
    return model
  } finally {
    positions.close()
  }
}

const mustHaveTried = ({ cuts, repeated }: Tried, wanted: number) => {
  expect(cuts).toBeGreaterThanOrEqual(wanted)
  expect(repeated).toBeGreaterThan(0)
}

test('cut off anywhere, the next reader goes on after the last ack', { timeout: 3_600_000 }, async () => {
  const folder = tempFolder()
  const tried: Tried = { cuts: 0, repeated: 0 }
  while (tried.cuts < CUTS)
    await fc.assert(
      fc.asyncProperty(plan, async (one) => {
        const { cuts, repeated } = await tryPlan(new MemoryLog(), folder, one)
        tried.cuts += cuts
        tried.repeated += repeated
      }),
      property(20),
    )
  mustHaveTried(tried, CUTS)
})

test('also over the log of a data folder', { timeout: 3_600_000 }, async () => {
  const folder = tempFolder()
  const log = await openSqliteLog({ folder, mode: 'owner' })
  const tried: Tried = { cuts: 0, repeated: 0 }
  try {
    while (tried.cuts < CUTS / 10) {
      const [one] = fc.sample(plan, 1)
      const { cuts, repeated } = await tryPlan(log, folder, one!)
      tried.cuts += cuts
      tried.repeated += repeated
    }
  } finally {
    await log.close()
  }
  mustHaveTried(tried, CUTS / 10)
})
