import { expect, onTestFinished, test } from 'vitest'
import { MemoryLeases } from '../../../adapters/memory/leases.ts'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { type AgentLease, hold, withLease } from '../../../api/operations/external/leases.ts'
import { takeLease } from '../../../api/process/servers/lease.ts'
import { AgentGateway } from '../../../domain/external/runtime/gateway.ts'
import { type ExternalLogPorts, StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { ENDED, Puppet } from '../../support/external/in-process.ts'
import { MemoryBlobs, MemoryIntents } from '../../support/harness.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { VirtualClock } from '../../support/time/virtual-clock.ts'

// On servers: the lease tells others not to look; the epoch in the log says who drives.

const ANN = { kind: 'user', id: 'ann' } as const

/** Two processes over one log, on one clock. */
function pair() {
  const log = new MemoryLog({ clock: BEFORE })
  onTestFinished(() => log.close())
  const clock = new VirtualClock(Date.UTC(2026, 0, 18))
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn % 251) }
  const shared = { log, clock, random, blobs: new MemoryBlobs(), intents: new MemoryIntents(), build: 'test' }
  const one = (driver: string) => {
    const ports: ExternalLogPorts = { ...shared, driver }
    const puppet = new Puppet()
    const stream = new StreamExternalLog(ports)
    return { puppet, stream, gateway: new AgentGateway({ log: stream, clock, backends: [puppet.backend] }) }
  }
  return { clock, a: one('a'), b: one('b') }
}

test('a run that another process has ended in the log ends its process, and records nothing more', async () => {
  const { a, b } = pair()
  const run = await a.gateway.run('fake', { prompt: 'go' })
  await a.puppet.text('one')
  expect(await b.stream.settle(run.agentId, 0)).toBe(true)
  await expect(run.completion).rejects.toMatchObject({ message: 'cancelled' })
  const state = await b.stream.state(run.agentId)
  // The true end came after all; the process was ended once.
  expect(state).toMatchObject({ stage: { at: 'ended', outcome: { kind: 'unknown', learned: true } } })
  expect(b.puppet.started).toBe(0)
})

test('what another process records is heard: a decision, and the end', async () => {
  const { a, b } = pair()
  const run = await a.gateway.run('fake', { prompt: 'go' })
  const answer = a.puppet.ask({ tool: 'edit', title: 't', input: {} })
  await expect.poll(async () => (await b.stream.state(run.agentId))?.permissions.asked).toBe(1)
  const decide = { kind: 'decide_permission', toolCallId: `${run.agentId}.t0.c0`, decision: 'approved' } as const
  await b.stream.ask(run.agentId, decide, { by: ANN, commandId: 'k1' })
  expect(await answer).toBe('approved')
  await b.stream.ask(run.agentId, { kind: 'cancel' }, { by: ANN, commandId: 'k2' })
  await expect(run.completion).rejects.toMatchObject({ message: 'cancelled' })
})

test('a lease is held until the work ends, and is taken again where it was lost', async () => {
  const clock = new VirtualClock()
  const leases = new MemoryLeases(clock)
  const as =
    (holder: string): AgentLease =>
    (id) =>
      takeLease({ leases, clock, ttlMs: 90 }, id, holder)
  const work = Promise.withResolvers<void>()
  await hold(as('a'), 'x1', clock, work.promise)
  let settled = 0
  const settle = () =>
    withLease(as('b'), 'x1', async () => {
      settled++
    })
  for (let ms = 0; ms < 500; ms += 10) await clock.sleep(10)
  expect([await settle(), settled]).toEqual([false, 0])
  await leases.release('x1', 'a')
  expect([await settle(), settled]).toEqual([true, 1])
  while ((await leases.acquire('x1', 'b', 1)) && (await leases.release('x1', 'b')) === undefined) await clock.sleep(100)
  work.resolve()
  await expect.poll(async () => settle()).toBe(true)
})

test('an end that was seen stays as it is', async () => {
  const { a, b } = pair()
  const run = await a.gateway.run('fake', { prompt: 'go' })
  a.puppet.exit(ENDED)
  await run.completion
  expect(await b.stream.settle(run.agentId, 0)).toBe(false)
})
