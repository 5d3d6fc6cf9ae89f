import { expect, test } from 'vitest'
import { code } from '../../../contracts/event-log-factory.ts'
import { openLog, standIn } from '../../../support/eventstore/logs.ts'
import { NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'

const stream = 'agent-a1'

test('one client appends and another reads, each over a connection of its own; who is replaced leaves none behind', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const sealer = new Sealer()
  const batch = sealer.batch(stream, NEW, [{}])
  await log.append(stream, -1, batch)
  await log.headCursor()
  expect(server.connections).toBe(2)
  server.switches.stalled = true
  const appended = log.append(stream, 0, sealer.batch(stream, tipOf(batch), [{}]))
  const { accepted } = server
  await expect.poll(() => server.accepted).toBeGreaterThan(accepted)
  server.switches.stalled = false
  await appended
  await expect.poll(() => server.connections).toBe(2)
})

test('a connection that hangs is not taken again by the next client, also while another client still has its own', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  await log.headCursor()
  const { accepted } = server
  server.freeze()
  const appended = log.append(stream, -1, new Sealer().batch(stream, NEW, [{}]))
  await expect.poll(() => server.accepted).toBeGreaterThan(accepted)
  server.thaw()
  await appended
})

test('an append behind an abandoned one does not conflict with an event that may vanish', async () => {
  const server = await standIn()
  const log = await openLog(server.url, { limits: { callMs: 400, patienceMs: 1_500 } })
  server.store.quorum = false
  const event = { type: 'noted', contentType: '', data: new Uint8Array(), metadata: new Uint8Array() }
  const theirs = [0, 1].map(() => ({ ...event, id: crypto.randomUUID() }))
  server.store.append(`ns.${stream}`, -1, theirs)
  const sealer = new Sealer()
  const first = sealer.batch(stream, NEW, [{}])
  const given = expect(log.append(stream, -1, first)).rejects.toEqual(code('LOG_UNAVAILABLE'))
  // Before its last try, which the other one outlives.
  await expect.poll(() => server.asked.wrong).toBeGreaterThan(5)
  const stands = log.append(stream, 0, sealer.batch(stream, tipOf(first), [{}]))
  await expect(stands).rejects.toEqual(code('LOG_UNAVAILABLE'))
  await given
})
