import { expect, onTestFinished, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { keyedCommand } from '../../domain/log/ids.ts'
import type { Json } from '../../domain/log/json.ts'
import { unsalted } from '../../domain/log/seal.ts'
import type { AnyAggregate } from '../../domain/stream/aggregate.ts'
import { Streams } from '../../domain/stream/runtime/streams.ts'
import { MemoryBlobs, MemoryIntents } from '../support/harness.ts'
import { BEFORE } from '../support/log/sealing.ts'
import { standing } from '../support/time/standing-clock.ts'
import { ticket } from '../toy-kind/ticket/kind.ts'

// Streams of a kind without a driver and without a service of its own.

const by = { kind: 'user', id: 'ann' } as const
const STREAM = 'ticket-t1'

async function opened() {
  const log = new MemoryLog({ clock: BEFORE })
  onTestFinished(() => log.close())
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn % 251) }
  const hide = async (value: Json) => JSON.parse(JSON.stringify(value).replaceAll('s3cret', '<hidden>')) as Json
  const stores = { log, blobs: new MemoryBlobs(), intents: new MemoryIntents() }
  const ports = { ...stores, random, clock: standing(Date.UTC(2026, 0, 18)), hide }
  const streams = new Streams(ports, new Map([[ticket.kind, ticket as unknown as AnyAggregate]]))
  const bodies = async () => {
    const found: unknown[] = []
    for await (const page of log.read(STREAM))
      found.push(...page.map(({ body }) => JSON.parse(String(Buffer.from(unsalted(body!))))))
    return found
  }
  const asking = (commandId: string) => ({ by, commandId })
  await streams.submit(ticket, 't1', { kind: 'open', title: 'Slow' }, asking('request:0'))
  return { log, streams, bodies, asking }
}

test('a repeat under the same key is recorded once, and another command under the key is refused', async () => {
  const { log, streams, bodies, asking } = await opened()
  const say = (text: string) =>
    streams.submit(ticket, 't1', { kind: 'comment', text }, asking(keyedCommand(log.logId, 'k', { text })))
  expect(await say('twice')).toEqual({ revision: 1, recorded: true })
  expect(await say('twice')).toEqual({ revision: 1, recorded: false })
  await expect(say('other')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
  expect(await bodies()).toEqual([{ title: 'Slow' }, { text: 'twice' }])
})

test('the values of secrets in a command are not recorded', async () => {
  const { streams, bodies, asking } = await opened()
  await streams.submit(ticket, 't1', { kind: 'comment', text: 'use s3cret' }, asking('request:1'))
  expect(await bodies()).toEqual([{ title: 'Slow' }, { text: 'use <hidden>' }])
})

test('a command for another revision is refused, and a body of another shape is not recorded', async () => {
  const { streams, bodies, asking } = await opened()
  const close = () => streams.submit(ticket, 't1', { kind: 'close' }, asking('request:1'), 4)
  await expect(close()).rejects.toMatchObject({ code: 'REVISION_CHANGED' })
  const empty = streams.submit(ticket, 't1', { kind: 'comment', text: '' }, asking('request:2'))
  await expect(empty).rejects.toMatchObject({ code: 'APPEND_INVALID' })
  expect(await bodies()).toEqual([{ title: 'Slow' }])
})

test('the bodies of an ended stream are erased, and those of an unknown kind are refused', async () => {
  const { streams, asking } = await opened()
  await streams.submit(ticket, 't1', { kind: 'close' }, asking('request:1'))
  expect((await streams.erasable(STREAM, { all: true })).bodies).toMatchObject([{ revision: 0, type: 'ticket_opened' }])
  await streams.erase(STREAM, { all: true }, { reason: 'asked to' }, asking('request:2'))
  expect(await streams.verify(STREAM)).toMatchObject({ ok: true, erased: [{ revision: 0 }] })
  await expect(streams.erasable('note-1', { all: true })).rejects.toMatchObject({ code: 'STREAM_UNKNOWN' })
  // Its body would stay in the log, as the residue.
  const closing = () => streams.erase(STREAM, { revision: 1 }, { reason: 'asked to' }, asking('request:3'))
  await expect(closing()).rejects.toMatchObject({ code: 'NOT_ERASABLE' })
})
