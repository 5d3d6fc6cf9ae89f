import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { exportStreams } from '../../api/operations/events/export.ts'
import { verifyExport } from '../../api/operations/events/verify-export.ts'
import { canonicalText } from '../../domain/log/canonical.ts'
import { sha256 } from '../../domain/log/ids.ts'
import { idOf } from '../../domain/log/owner.ts'
import { unsalted } from '../../domain/log/seal.ts'
import type { AnyAggregate } from '../../domain/stream/aggregate.ts'
import { defineKind } from '../../domain/stream/define-kind.ts'
import { history } from '../../domain/stream/runtime/history.ts'
import { Streams } from '../../domain/stream/runtime/streams.ts'
import { projectionOf } from '../../projections/engine/changes/projection.ts'
import { tempFolder } from '../support/folders.ts'
import { MemoryBlobs, MemoryIntents, seededRandom } from '../support/harness.ts'
import { BEFORE } from '../support/log/sealing.ts'
import { standing } from '../support/time/standing-clock.ts'

// Law 7 on a type with two versions: a log that a program of version 1 wrote, and one of version 2 goes on with.

const STREAM = 'note-n1'
const by = { kind: 'user', id: 'ann' } as const

interface Notes {
  readonly count: number
  /** The number of notes with a mood. A member of version 2: the digest omits its initial value. */
  readonly moods: number
}

const digest = ({ count, moods }: Notes) => sha256(canonicalText({ count, ...(moods > 0 && { moods }) }))

/** The program of version 1. */
const first = defineKind({
  kind: 'note',
  bodies: { note_written: z.strictObject({ text: z.string() }) },
  evolve: (state: Notes | null): Notes => ({ count: (state?.count ?? 0) + 1, moods: 0 }),
  decide: (_state: Notes | null, text: string, emit) => emit('note_written', { text }),
  digest,
  residues: { note_written: () => ({ text: '' }) },
})

const Written = z.strictObject({ words: z.string(), mood: z.enum(['unknown', 'glad']) })

/** The program of version 2: `text` became `words`, and there is a mood. */
const second = defineKind({
  kind: 'note',
  bodies: { note_written: Written },
  versions: { note_written: 2 },
  upcasters: { note_written: { 1: (body) => ({ words: (body as { text: string }).text, mood: 'unknown' }) } },
  evolve: (state: Notes | null, { body }): Notes => ({
    count: (state?.count ?? 0) + 1,
    moods: (state?.moods ?? 0) + ((body as z.infer<typeof Written>).mood === 'unknown' ? 0 : 1),
  }),
  decide: (_state: Notes | null, words: string, emit) => emit('note_written', { words, mood: 'glad' }),
  digest,
  residues: { note_written: ({ mood }) => ({ words: '', mood }) },
})

const rows = projectionOf(
  second,
  {
    notes: {
      columns: { id: 'text!', revision: 'integer!', words: 'text', mood: 'text' },
      key: ['id', 'revision'],
      kind: 'note',
      owner: 'id',
    },
  },
  ({ header, event }, { put }) =>
    event?.type === 'note_written'
      ? [put('notes', { id: idOf(header.stream), revision: header.revision }, event.body)]
      : [],
)

const open = (folder: string) => openSqliteLog({ folder, mode: 'owner', clock: BEFORE })

test('a log with an old shape is read, folded, proved, projected, exported, continued and erased', async () => {
  const folder = tempFolder()
  const stores = { blobs: new MemoryBlobs(), intents: new MemoryIntents() }
  const ports = {
    ...stores,
    random: seededRandom('notes'),
    clock: standing(Date.UTC(2026, 0, 18)),
    hide: async (v: never) => v,
  }
  const streamsOf = (log: Awaited<ReturnType<typeof open>>, kind: object) =>
    new Streams({ ...ports, log }, new Map([['note', kind as AnyAggregate]]))

  const old = await open(folder)
  await streamsOf(old, first).submit(first, 'n1', 'as it was', { by, commandId: 'request:1' })
  await old.close()

  const log = await open(folder)
  onTestFinished(() => log.close())
  const streams = streamsOf(log, second)
  expect(await streams.verify(STREAM)).toMatchObject({ ok: true, events: 1, digests: 1, problems: [] })
  await streams.submit(second, 'n1', 'as it is', { by, commandId: 'request:2' })
  const read = async () => {
    const events = []
    for await (const page of history({ log, blobs: stores.blobs }, second, STREAM)) events.push(...page)
    return events.map(({ event, recorded }) => [recorded.header.version, event.body])
  }
  expect(await read()).toEqual([
    [1, { words: 'as it was', mood: 'unknown' }],
    [2, { words: 'as it is', mood: 'glad' }],
  ])
  // The stored bytes stay those of version 1.
  for await (const [stored] of log.read(STREAM, { limit: 1 }))
    expect(JSON.parse(Buffer.from(unsalted(stored!.body!)).toString())).toEqual({ text: 'as it was' })
  expect(await streams.verify(STREAM)).toMatchObject({ ok: true, events: 2, digests: 2, problems: [] })

  const changes = []
  for await (const page of log.read(STREAM))
    for (const event of page) changes.push(...rows.changes(rows.decode(event, unsalted(event.body!), null) as never))
  expect(changes).toMatchObject([
    { key: { revision: 0 }, columns: { words: 'as it was', mood: 'unknown' } },
    { key: { revision: 1 }, columns: { words: 'as it is', mood: 'glad' } },
  ])

  const exported = exportStreams(log, stores.blobs, STREAM, [STREAM])
  expect(await verifyExport(exported)).toMatchObject({ ok: true, events: 2, problems: [] })

  await streams.erase(STREAM, { revision: 0 }, { reason: 'asked to' }, { by, commandId: 'request:3' })
  expect((await read()).slice(0, 2)).toEqual([
    [1, { words: '', mood: 'unknown' }],
    [2, { words: 'as it is', mood: 'glad' }],
  ])
  expect(await streams.verify(STREAM)).toMatchObject({ ok: true, digests: 2, erased: [{ revision: 0 }] })
})

test('a program of version 1 refuses the log by name as soon as version 2 has written', async () => {
  const log = await open(tempFolder())
  onTestFinished(() => log.close())
  const stores = { blobs: new MemoryBlobs(), intents: new MemoryIntents() }
  const ports = {
    ...stores,
    log,
    random: seededRandom('new'),
    clock: standing(Date.UTC(2026, 0, 18)),
    hide: async (v: never) => v,
  }
  const streams = new Streams(ports, new Map([['note', second as unknown as AnyAggregate]]))
  await streams.submit(second, 'n1', 'new', { by, commandId: 'request:1' })
  const reading = async () => {
    for await (const _ of history({ log, blobs: stores.blobs }, first, STREAM));
  }
  await expect(reading()).rejects.toMatchObject({ code: 'UNKNOWN_EVENT' })
})
