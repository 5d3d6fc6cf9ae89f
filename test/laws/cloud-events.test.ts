import { expect, test } from 'vitest'
import { z } from 'zod'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { EventViews } from '../../api/operations/events/view.ts'
import { type CloudEvent, cloudEventOf } from '../../api/operations/export/cloud-event.ts'
import { isTraceParent, type RecordedEvent } from '../../domain/log/envelope.ts'
import { recorded } from '../support/golden/files.ts'
import { appendAgain } from '../support/golden/recording.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { BEFORE } from '../support/log/sealing.ts'

// Every recorded event is a valid CloudEvent.

const isUri = (text: string) => URL.canParse(text)
/** A text of the type String of CloudEvents. */
const Text = z
  .string()
  .min(1)
  .refine((text) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(text))

/** The rules of the specification (1.0.2, "Context Attributes") and of its JSON Schema. */
const Valid = z
  .object({
    specversion: z.literal('1.0'),
    id: Text,
    source: Text.refine(isUri),
    type: Text,
    subject: Text.optional(),
    time: z.iso.datetime({ offset: true }).optional(),
    datacontenttype: z.literal('application/json').optional(),
    dataschema: Text.refine(isUri).optional(),
    data: z.unknown().optional(),
  })
  .catchall(z.union([Text, z.boolean(), z.int32()]))
  .refine((event) => Object.keys(event).every((name) => /^[a-z0-9]{1,20}$/.test(name)))

async function* golden(): AsyncGenerator<readonly [RecordedEvent, CloudEvent, payload: object | null]> {
  for (const { text } of recorded()) {
    const [log, blobs] = [new MemoryLog({ clock: BEFORE }), new MemoryBlobs()]
    await appendAgain(text, log, blobs)
    const views = new EventViews(log, blobs)
    for await (const page of log.readAll(null))
      for (const event of page) {
        const view = await views.view(event)
        yield [event, cloudEventOf(event, view, log.logId), view.payload]
      }
  }
}

test('every event of the golden histories maps to a valid CloudEvent with its payload', async () => {
  const types = new Set<string>()
  let erased = 0
  for await (const [{ header, id, position, hash }, event, payload] of golden()) {
    const wire = JSON.parse(JSON.stringify(event)) as CloudEvent
    expect(Valid.safeParse(wire).error, JSON.stringify(wire)).toBeUndefined()
    expect(wire).toMatchObject({ id, kuhash: hash, time: header.timestamp, partitionkey: header.stream })
    expect([wire.sequence.length, Number(wire.sequence)]).toEqual([20, position])
    expect(wire.type).toBe(`dev.keepup.${header.type}.v${header.version}`)
    expect(wire.data ?? null).toEqual(JSON.parse(JSON.stringify(payload)))
    expect('datacontenttype' in wire).toBe(payload !== null)
    if (wire.traceparent !== undefined) expect(isTraceParent(wire.traceparent)).toBe(true)
    types.add(wire.type)
    if (payload === null) erased++
  }
  expect(types.size).toBeGreaterThan(60)
  expect(erased).toBeGreaterThan(5)
})

test('id and source identify an event, and texts of positions sort like positions', async () => {
  const seen = new Set<string>()
  let count = 0
  let last: CloudEvent | null = null
  for await (const [, event] of golden()) {
    seen.add(`${event.source} ${event.id} ${event.sequence}`)
    count++
    if (last !== null && Number(last.sequence) < Number(event.sequence))
      expect(last.sequence < event.sequence).toBe(true)
    last = event
  }
  expect(seen.size).toBe(count)
})

test('a name with control characters becomes a text of CloudEvents', () => {
  const header = {
    stream: 'agent-a',
    type: 't',
    version: 1,
    revision: 0,
    turn: 0,
    timestamp: '2026-11-01T00:00:00.000Z',
  }
  const actor = { kind: 'user', id: 'a\u0000b\u009f\ud800c' }
  const event = {
    header: { ...header, commandId: 'c', actor, body: { hash: '' } },
    id: 'i',
    hash: 'h',
    position: 7,
    body: null,
  }
  const { kuactor } = cloudEventOf(event as RecordedEvent, { payload: null }, 'log')
  expect(kuactor).toBe('user:a\ufffdb\ufffd\ufffdc')
})
