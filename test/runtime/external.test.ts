import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { openEventStoreLog } from '../../adapters/eventstore/open.ts'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { external } from '../../domain/external/aggregate.ts'
import { AgentGateway } from '../../domain/external/runtime/gateway.ts'
import { type ExternalLogPorts, StreamExternalLog } from '../../domain/external/runtime/stream-log.ts'
import { externalStream } from '../../domain/log/ids.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { erase } from '../../domain/stream/runtime/erasure/erase.ts'
import { history } from '../../domain/stream/runtime/history.ts'
import { verifyStream } from '../../domain/stream/runtime/verify.ts'
import { StandIn } from '../support/eventstore/stand-in.ts'
import { ENDED, Puppet, settled } from '../support/external/in-process.ts'
import { tempFolder } from '../support/folders.ts'
import { MemoryBlobs, MemoryIntents } from '../support/harness.ts'
import { BEFORE } from '../support/log/sealing.ts'
import { standing } from '../support/time/standing-clock.ts'

// DESIGN, External runs: the stream of a run is written through the same path as an agent's.

const ANN = { kind: 'user', id: 'ann' } as const
const USAGE = { scope: 'session', inputTokens: 9, cachedInputTokens: 4, outputTokens: 2, cost: null } as const

const server = await new StandIn().start()
afterAll(() => server.stop())

let namespaces = 0
const LOGS: readonly [string, () => Promise<EventLog>][] = [
  ['memory', async () => new MemoryLog({ clock: BEFORE })],
  ['sqlite', () => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE })],
  [
    'eventstore',
    () => openEventStoreLog({ connectionString: server.url, namespace: `agents${++namespaces}`, clock: BEFORE }),
  ],
]

async function portsOn(open: () => Promise<EventLog>): Promise<ExternalLogPorts> {
  const log = await open()
  onTestFinished(() => log.close())
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn % 251) }
  const clock = standing(Date.UTC(2026, 0, 18))
  return { log, random, clock, blobs: new MemoryBlobs(), intents: new MemoryIntents(), build: 'test' }
}

function gatewayOn(ports: ExternalLogPorts) {
  const puppet = new Puppet()
  const log = new StreamExternalLog(ports)
  return { puppet, log, gateway: new AgentGateway({ log, clock: ports.clock, backends: [puppet.backend] }) }
}

async function eventsOf(ports: ExternalLogPorts, agentId: string) {
  const found = []
  for await (const page of history(ports, external, externalStream(agentId)))
    for (const { event, recorded } of page) found.push({ event, header: recorded.header })
  return found
}
const typesOf = async (ports: ExternalLogPorts, agentId: string) =>
  (await eventsOf(ports, agentId)).map(({ event }) => event.type)

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const event of events) all.push(event)
  return all
}

describe.each(LOGS)('an external run on the %s log', (_, open) => {
  test('is recorded in order, is read from the log, and its stream is proved', async () => {
    const ports = await portsOn(open)
    const { gateway, puppet, log } = gatewayOn(ports)
    const run = await gateway.run('fake', { prompt: 'go' }, { by: ANN })
    const texts = Array.from({ length: 600 }, (_, i) => `t${i}`)
    await puppet.text(...texts)
    await puppet.emit({ sessionId: 's1', usage: USAGE })
    puppet.exit()
    expect(await run.completion).toEqual(ENDED)
    expect((await collect(run.events)).map(({ text }) => text)).toEqual(texts)
    const found = await eventsOf(ports, run.agentId)
    expect(found.map(({ event }) => event.type)).toEqual([
      ...['external_started', 'driver_claimed', 'process_start'],
      ...['agent_events', 'agent_events', 'agent_events', 'session_known', 'usage_reported', 'external_ended'],
    ])
    const [start, claim] = found.map(({ header }) => header)
    const batch = found[3]!.header
    expect(start).toMatchObject({ minReader: 1, runId: run.agentId, agentId: run.agentId, actor: ANN })
    expect(start!.driver).toBeUndefined()
    expect(claim!.driver).toMatchObject({ epoch: 1 })
    expect(batch).toMatchObject({ actor: { kind: 'backend', id: 'fake' }, driver: { epoch: 1 } })
    // A session that the run began itself is of the run alone.
    expect(found[7]!.event.body).toEqual({ ...USAGE, scope: 'run' })
    const proof = await verifyStream(ports, external, externalStream(run.agentId))
    expect(proof).toMatchObject({ ok: true, problems: [], unchecked: 0 })
    expect(proof.digests).toBeGreaterThan(2)
    // Another process reads the same.
    const elsewhere = await new StreamExternalLog(ports).reading(run.agentId)
    expect((await elsewhere!.read(590)).map(({ text }) => text)).toEqual(texts.slice(590))
    expect(await log.reading('none')).toBeNull()
  })

  test('whose program is gone has an unknown outcome, is never started again, and may learn its outcome', async () => {
    const ports = await portsOn(open)
    const { gateway, puppet } = gatewayOn(ports)
    const run = await gateway.run('fake', { prompt: 'go' })
    await puppet.text(...Array.from({ length: 256 }, () => 't'))
    await settled(run.completion)
    const next = new StreamExternalLog(ports)
    expect(await next.settle(run.agentId, 1)).toBe(true)
    expect(await next.settle(run.agentId, 1)).toBe(false)
    expect((await next.state(run.agentId))!.stage).toEqual({
      at: 'ended',
      outcome: { kind: 'unknown', learned: false },
    })
    expect(puppet.started).toBe(1)
    // The first program was alive after all.
    await puppet.text('late')
    puppet.exit()
    await run.completion
    const types = await typesOf(ports, run.agentId)
    expect(types.slice(-3)).toEqual(['driver_claimed', 'external_ended', 'outcome_learned'])
    expect(await verifyStream(ports, external, externalStream(run.agentId))).toMatchObject({ ok: true })
  })

  test('is started once for one command', async () => {
    const ports = await portsOn(open)
    const { gateway, puppet } = gatewayOn(ports)
    const asked = { by: ANN, agentId: 'x1', commandId: 'key:1' }
    await gateway.run('fake', { prompt: 'go' }, asked)
    await expect(gateway.run('fake', { prompt: 'go' }, asked)).rejects.toThrow('x1 was started before')
    expect(puppet.started).toBe(1)
    puppet.exit()
  })
})

test('a program that dies at any boundary leaves one process at most, and the next one ends the run once', async () => {
  for (let dies = 1; dies <= 9; dies++) {
    const ports = await portsOn(async () => new MemoryLog({ clock: BEFORE }))
    let boundaries = 0
    const crashPoint = () => {
      if (++boundaries < dies) return
      throw new Error('killed')
    }
    const { gateway, puppet } = gatewayOn({ ...ports, crashPoint })
    const run = await gateway.run('fake', { prompt: 'go' }, { agentId: 'x1' }).catch(() => null)
    if (run !== null) {
      await puppet.text('a').catch(() => undefined)
      await puppet.emit({ usage: USAGE }).catch(() => undefined)
      puppet.exit()
      await run.completion.catch(() => undefined)
    }
    const next = new StreamExternalLog(ports)
    const begun = (await ports.log.head(externalStream('x1'))) !== null
    const ended = begun && (await next.settle('x1', 0))
    const types = begun ? await typesOf(ports, 'x1') : []
    const count = (type: string) => types.filter((one) => one === type).length
    // Whatever was started had its intent in the log before.
    expect(puppet.started).toBeLessThanOrEqual(count('process_start'))
    expect(count('external_ended')).toBe(begun ? 1 : 0)
    expect(await next.settle('x1', 0)).toBe(false)
    if (begun) expect(await verifyStream(ports, external, externalStream('x1'))).toMatchObject({ ok: true })
    if (dies === 1) expect(begun).toBe(false)
    if (dies === 2) expect([begun, ended]).toEqual([true, true])
  }
})

test('erased bodies of a run that has ended leave no word, a sound proof, and a readable stream', async () => {
  const ports = await portsOn(() => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE }))
  const { gateway, puppet } = gatewayOn(ports)
  const run = await gateway.run('fake', { prompt: 'a private word' })
  await puppet.text('another private word')
  puppet.exit({ ...ENDED, finalText: 'the last private word' })
  await run.completion
  const stream = externalStream(run.agentId)
  const asker = { by: ANN, commandId: 'e1' }
  await erase(ports, external, stream, { all: true, reason: 'asked to' }, asker, { forget: async () => {} })
  const found = await eventsOf(ports, run.agentId)
  expect(found.slice(-2).map(({ event }) => event.type)).toEqual(['residue', 'erased'])
  expect(JSON.stringify(found.map(({ event }) => event.body))).not.toContain('private')
  const proof = await verifyStream(ports, external, stream)
  expect(proof.problems).toEqual([])
  expect(proof.erased.length).toBeGreaterThan(2)
  const read = (await new StreamExternalLog(ports).reading(run.agentId))!
  expect(await read.read(0)).toEqual([{ kind: 'TextOutput' }])
})
