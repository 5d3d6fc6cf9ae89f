import { expect, test } from 'vitest'
import { NEW, Sealer } from '../support/log/sealing.ts'
import { Checker } from './checker.ts'
import { Choices } from './choices.ts'
import { SimulatedLog } from './log.ts'
import { Host, Scheduler } from './scheduler.ts'

test.each(['embedded', 'servers'] as const)('an event that cannot be folded is a finding (%s)', async (dialect) => {
  const scheduler = new Scheduler(new Choices([]))
  const checker = new Checker()
  const log = new SimulatedLog(scheduler, dialect, { lost: 0, slow: 0 }, (batch) => checker.written(batch))
  const [stream, process] = ['agent-a1', new Host('worker1')]
  const sealer = new Sealer()
  sealer.ms = 365 * 86_400_000
  const batch = sealer.batch(stream, NEW, [{ type: 'turn_start', body: { unknown: true } }])

  const answer = log.seenBy(process).append(stream, -1, batch)
  for (let n = 0; n < 5; n++) await scheduler.tick()
  await expect(answer).resolves.toMatchObject({ position: expect.any(Number) })
  expect(() => checker.mustHold()).toThrow('a durable event can be folded: agent-a1@0 (turn_start)')
})
