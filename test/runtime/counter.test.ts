import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { openEventStoreLog } from '../../adapters/eventstore/open.ts'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { backupLog } from '../../adapters/sqlite/log/backup.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { MAX_INLINE_BODY } from '../../domain/log/blobs.ts'
import { keyedCommand } from '../../domain/log/ids.ts'
import type { EventLog, Snapshot, SnapshotStore } from '../../domain/ports/index.ts'
import { erase } from '../../domain/stream/runtime/erasure/erase.ts'
import type { StreamPorts } from '../../domain/stream/runtime/ports.ts'
import { SNAPSHOT_EVERY } from '../../domain/stream/runtime/snapshots.ts'
import { verifyStream } from '../../domain/stream/runtime/verify.ts'
import { counter } from '../support/counter/counter.ts'
import { type CounterMailbox, counterStream, mailboxOf, ringBells } from '../support/counter/driver.ts'
import { StandIn } from '../support/eventstore/stand-in.ts'
import { tempFolder } from '../support/folders.ts'
import { MemoryBlobs, MemoryIntents } from '../support/harness.ts'
import { BEFORE, collect } from '../support/log/sealing.ts'
import { standing } from '../support/time/standing-clock.ts'

// A counter with one effect, without an agent: what the write path does for agents it does for any kind of stream.

const ANN = { kind: 'user', id: 'ann' } as const
const ASK = { fact: false }
const LONG = 'a long note '.repeat(MAX_INLINE_BODY / 8)

class Snapshots implements SnapshotStore {
  readonly held = new Map<string, Snapshot>()
  async latest(stream: string): Promise<Snapshot | null> {
    return this.held.get(stream) ?? null
  }
  async put(stream: string, _: number, snapshot: Snapshot): Promise<void> {
    this.held.set(stream, JSON.parse(JSON.stringify(snapshot)))
  }
  async clear(): Promise<void> {
    this.held.clear()
  }
}

const server = await new StandIn().start()
afterAll(() => server.stop())

const LOGS: readonly [string, string, () => Promise<EventLog>][] = [
  ['memory', 'counter', async () => new MemoryLog({ clock: BEFORE })],
  ['sqlite', 'counter', () => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE })],
  // It passes over streams of kinds that the product does not write.
  [
    'eventstore',
    'memory',
    () => openEventStoreLog({ connectionString: server.url, namespace: 'counters', clock: BEFORE }),
  ],
]

async function portsOn(open: () => Promise<EventLog>) {
  const log = await open()
  onTestFinished(() => log.close())
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn % 251) }
  return {
    ...{ log, random, blobs: new MemoryBlobs(), intents: new MemoryIntents(), clock: standing(Date.UTC(2026, 0, 18)) },
    snapshots: new Snapshots(),
  } satisfies StreamPorts
}

let asked = 0
const say = (mailbox: CounterMailbox, command: Parameters<CounterMailbox['submit']>[0], commandId = `c${++asked}`) =>
  mailbox.submit(command, { by: ANN, commandId }, ASK)
const count = (mailbox: CounterMailbox, by: number, note = 'x') => say(mailbox, { kind: 'count', by, note })

/** A counter whose bell has rung once, closed. */
async function closed(ports: StreamPorts, stream: string): Promise<CounterMailbox> {
  const mailbox = mailboxOf(ports, stream)
  await say(mailbox, { kind: 'open', bellAt: 10 })
  await count(mailbox, 4, 'four')
  await count(mailbox, 6, LONG)
  await ringBells(mailbox, () => undefined)
  await say(mailbox, { kind: 'close' })
  return mailbox
}

describe.each(LOGS)('a counter on the %s log', (name, kind, open) => {
  const at = (id: string) => counterStream(id, kind)

  test('rings the bell that it owes once, also after a restart, and says when it is to be woken', async () => {
    const ports = await portsOn(open)
    const mailbox = mailboxOf(ports, at('a'))
    await say(mailbox, { kind: 'open', bellAt: 10 })
    await count(mailbox, 10)
    const wakes = async () => (await collect(ports.log.read(at('a')))).map(({ header }) => header.wakeAt)
    const owedAt = ports.clock.now()
    expect(await wakes()).toEqual([null, undefined, owedAt])
    const rung: number[] = []
    for (const one of [mailboxOf(ports, at('a')), mailboxOf(ports, at('a')), mailbox])
      await ringBells(one, (n) => rung.push(n))
    expect(rung).toEqual([1])
    expect(await wakes()).toEqual([null, undefined, owedAt, null])
    await mailbox.refresh()
    expect(mailbox.state).toMatchObject({ total: 10, owed: [], rings: 1 })
  })

  test('is proved: chain, bodies in both places, and every digest', async () => {
    const ports = await portsOn(open)
    await closed(ports, at('b'))
    expect(await verifyStream(ports, counter, at('b'))).toMatchObject({ ok: true, events: 6, unchecked: 0 })
    const [first] = await collect(ports.log.read(at('b')))
    expect(first!.header).toMatchObject({ minReader: 1, stream: at('b') })
    expect(Object.keys(first!.header)).not.toEqual(expect.arrayContaining(['runId']))
    expect([...ports.blobs.held.keys()]).toEqual([expect.stringMatching(`^${at('b')}/`)])
    ports.blobs.held.clear()
    const problems = [{ revision: 2, code: 'BLOB', message: 'the body is missing' }]
    expect(await verifyStream(ports, counter, at('b'))).toMatchObject({ ok: false, problems })
  })

  test('of two writers each count is in it, once for each key', async () => {
    const ports = await portsOn(open)
    const [one, other] = [mailboxOf(ports, at('c')), mailboxOf(ports, at('c'))]
    await say(one, { kind: 'open', bellAt: 100 })
    await Promise.all([count(one, 1), count(other, 2), count(one, 3), count(other, 4)])
    const key = keyedCommand(ports.log.logId, 'k', 'count')
    for (const mailbox of [one, other, one]) await say(mailbox, { kind: 'count', by: 5, note: '' }, key)
    // More requests than the state remembers.
    for (let i = 0; i < 10; i++) await count(one, 0)
    expect(await say(mailboxOf(ports, at('c')), { kind: 'count', by: 5, note: '' }, key)).toMatchObject({
      recorded: false,
    })
    await one.refresh()
    expect(one.state?.total).toBe(15)
    const another = keyedCommand(ports.log.logId, 'k', 'something else')
    await expect(say(one, { kind: 'close' }, another)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
  })

  test('belongs to the run that caused an event only in name: its blobs are its own', async () => {
    const ports = await portsOn(open)
    const mailbox = mailboxOf(ports, at('d'))
    await say(mailbox, { kind: 'open', bellAt: 10 })
    await say(mailbox, { kind: 'count', by: 1, note: LONG, runId: 'r1' })
    const events = await collect(ports.log.read(at('d')))
    expect(events.map(({ header }) => [header.runId, header.agentId])).toEqual([
      [undefined, undefined],
      ['r1', undefined],
    ])
    expect(await ports.blobs.list('r1')).toEqual([])
    expect(await ports.blobs.list(at('d'))).toHaveLength(1)
  })

  test('is erased where the log can, goes on from what is left, and cannot be before it has ended', async () => {
    const ports = await portsOn(open)
    const stream = at('e')
    const what = { all: true, reason: 'asked for' } as const
    const gone = (id: string) =>
      erase(ports, counter, at(id), what, { by: ANN, commandId: 'erase' }, { forget: async () => undefined })
    const mailbox = await closed(ports, at('e'))
    const total = mailbox.state?.total
    if (name === 'eventstore') return expect(gone('e')).rejects.toMatchObject({ code: 'ERASE_IMPOSSIBLE' })
    expect(await gone('e')).toMatchObject({ recorded: true })
    expect(ports.blobs.held.size).toBe(0)
    const events = await collect(ports.log.read(stream))
    expect(JSON.stringify(events.map(({ body }) => body && Buffer.from(body).toString()))).not.toContain('four')
    expect(events.at(-1)!.header).toMatchObject({ type: 'erased', wakeAt: null })
    const proof = await verifyStream(ports, counter, stream)
    expect(proof).toMatchObject({ ok: true, unchecked: 0, erased: [{ revision: 1 }, { revision: 2 }] })
    const again = mailboxOf(ports, at('e'))
    await again.refresh()
    expect(again.state?.total).toBe(total)
    const still = mailboxOf(ports, at('f'))
    await say(still, { kind: 'open', bellAt: 10 })
    await expect(gone('f')).rejects.toMatchObject({ code: 'RUN_ACTIVE' })
  })

  test('begins at its snapshot, which is believed only as it was put', async () => {
    const ports = await portsOn(open)
    const mailbox = mailboxOf(ports, at('g'))
    await say(mailbox, { kind: 'open', bellAt: 100_000 })
    for (let i = 0; i < SNAPSHOT_EVERY; i++) await count(mailbox, 1)
    const stream = at('g')
    expect(ports.snapshots.held.get(stream)?.revision).toBe(SNAPSHOT_EVERY)
    const kept = ports.snapshots.held.get(stream)!
    const read: number[] = []
    const log = new Proxy(ports.log, {
      get: (target, key) => {
        const member = Reflect.get(target, key) as unknown
        if (key === 'read')
          return (of: string, options: { from?: number }) => {
            read.push(options.from ?? 0)
            return target.read(of, options)
          }
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const reader = mailboxOf({ ...ports, log }, at('g'))
    await reader.refresh()
    expect(reader.state).toEqual(mailbox.state)
    expect(Math.min(...read)).toBe(SNAPSHOT_EVERY)
    const state = JSON.parse(JSON.stringify(kept.state).replace(`"total":${SNAPSHOT_EVERY}`, '"total":999'))
    ports.snapshots.held.set(stream, { ...kept, state })
    const careful = mailboxOf({ ...ports, log }, at('g'))
    await careful.refresh()
    expect(careful.state).toEqual(mailbox.state)
    expect(Math.min(...read)).toBe(0)
  })
})

const at = counterStream

test('a backup of the log holds the counter, which goes on in it', async () => {
  const [folder, to] = [tempFolder(), tempFolder()]
  const ports = await portsOn(() => openSqliteLog({ folder, mode: 'owner', clock: BEFORE }))
  const mailbox = mailboxOf(ports, at('h'))
  await say(mailbox, { kind: 'open', bellAt: 10 })
  await count(mailbox, 10)
  await backupLog(folder, to, ports.log.logId)
  await count(mailbox, 1)
  const restored = { ...ports, log: await openSqliteLog({ folder: to, mode: 'owner', clock: BEFORE }) }
  onTestFinished(() => restored.log.close())
  const again = mailboxOf(restored, at('h'))
  const rung: number[] = []
  await ringBells(again, (n) => rung.push(n))
  expect(rung).toEqual([1])
  expect(again.state).toMatchObject({ total: 10, rings: 1 })
  expect(await verifyStream(restored, counter, at('h'))).toMatchObject({ ok: true, unchecked: 0 })
})

test('a fold that differs from the recorded digest is found, and nothing is decided on it', async () => {
  const ports = await portsOn(async () => new MemoryLog({ clock: BEFORE }))
  await closed(ports, at('i'))
  const wrong = {
    ...counter,
    digest: (state: Parameters<typeof counter.digest>[0]) => counter.digest({ ...state, total: 0 }),
  }
  const proof = await verifyStream(ports, wrong, at('i'))
  expect(proof.problems).toMatchObject([{ revision: 1, code: 'DIGEST' }])
})
