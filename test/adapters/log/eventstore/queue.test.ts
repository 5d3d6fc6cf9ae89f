import { expect, test } from 'vitest'
import { AT_ONCE, Slots } from '../../../../adapters/eventstore/append-slots.ts'
import { expectOnce, openLog, standIn } from '../../../support/eventstore/logs.ts'
import { NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'

const stream = 'agent-a1'

test('a read without an answer does not delay appends', async () => {
  const server = await standIn()
  const log = await openLog(server.url, { limits: { callMs: 600_000, patienceMs: 600_000 } })
  const sealer = new Sealer()
  const batch = sealer.batch(stream, NEW, [{}])
  await log.append(stream, -1, batch)
  server.switches.readsStalled = true
  const reads = [log.headCursor(), log.streams('agent-').next(), log.head(stream), log.readAll(null).next()]
  const stalled = reads.map((read) => read.catch(() => 0))
  await log.append(stream, 0, sealer.batch(stream, tipOf(batch), [{}]))
  await log.close()
  expect(await Promise.all(stalled)).toEqual([0, 0, 0, 0])
})

test('an append that never gets its turn ends with its patience, and the error says that nothing was sent', async () => {
  const server = await standIn()
  const log = await openLog(server.url, { limits: { callMs: 3_000, patienceMs: 300 } })
  const batches = Array.from({ length: AT_ONCE + 40 }, (_, n) => new Sealer(`q${n}`).batch(`agent-q${n}`, NEW, [{}]))
  const append = (to = log) => Promise.allSettled(batches.map((batch) => to.append(batch[0]!.header.stream, -1, batch)))
  const before = new Sealer().batch('agent-before', NEW, [{}])
  await log.append('agent-before', -1, before)
  server.switches.stalled = true
  const { appends } = server.asked
  const told = await append()
  for (const one of told) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'LOG_UNAVAILABLE' } })
  const inDoubt = told.map((one) => /not known whether/.test(String((one as PromiseRejectedResult).reason)))
  expect(inDoubt).toEqual(batches.map((_, n) => n < AT_ONCE))
  expect(server.asked.appends - appends).toBe(AT_ONCE)
  server.switches.stalled = false
  // Patient: the test is about the bound, not about how fast a busy machine is.
  const patient = await openLog(server.url)
  for (const told of await append(patient)) expect(told).toMatchObject({ status: 'fulfilled' })
  await expectOnce(log, server, batches)
})

test('appends pass a bounded number at a time, in call order', async () => {
  const slots = new Slots()
  const passed: number[] = []
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  for (let n = 0; n < 400; n++) slots.take(100_000).then(() => passed.push(n))
  await settled()
  expect(passed).toHaveLength(AT_ONCE)
  slots.give()
  await settled()
  expect(passed).toHaveLength(AT_ONCE + 1)
  for (let n = 0; n < AT_ONCE; n++) slots.give()
  await settled()
  expect(passed).toEqual(Array.from({ length: 2 * AT_ONCE + 1 }, (_, n) => n))
  // None is left to lose its patience during other tests.
  for (let n = 0; n < 400; n++) slots.give()
})

test('an append that leaves the queue is skipped, and the others keep their order', async () => {
  const slots = new Slots()
  const passed: number[] = []
  const left: number[] = []
  for (let n = 0; n < AT_ONCE; n++) await slots.take(100_000)
  const calls = Array.from({ length: 40 }, (_, n) =>
    slots.take(n % 4 === 1 ? 1 : 100_000).then(
      () => passed.push(n),
      () => left.push(n),
    ),
  )
  await expect.poll(() => left.length).toBe(10)
  for (let n = 0; n < AT_ONCE; n++) slots.give()
  await Promise.all(calls)
  expect(passed).toEqual(Array.from({ length: 40 }, (_, n) => n).filter((n) => n % 4 !== 1))
  // No place is held for those who left.
  for (let n = 0; n < passed.length; n++) slots.give()
  const more: number[] = []
  for (let n = 0; n < AT_ONCE + 1; n++) slots.take(100_000).then(() => more.push(n))
  await expect.poll(() => more.length).toBe(AT_ONCE)
  slots.give()
  await expect.poll(() => more.length).toBe(AT_ONCE + 1)
})
