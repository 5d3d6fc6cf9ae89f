import { describe, expect, onTestFinished, test } from 'vitest'
import type { SqliteLog } from '../../../../adapters/sqlite/log/log.ts'
import type { Cursor } from '../../../../domain/log/cursor.ts'
import type { RecordedEvent, SealedEvent } from '../../../../domain/log/envelope.ts'
import { collect, erasedBody, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'
import { owner, raw } from '../../../support/log/sqlite-log.ts'

// The thread of the writer commits before this one takes its answer: the file holds more for a while than was acknowledged.

const revisions = (events: readonly RecordedEvent[]) => events.map(({ header }) => header.revision)

/** Sends an append, and stands still until it is committed: its answer waits to be taken. */
async function committed(
  log: SqliteLog,
  batch: readonly SealedEvent[],
): Promise<{ readonly answer: Promise<unknown> }> {
  const { stream, revision } = batch[0]!.header
  const last = raw(log.folder).prepare('SELECT max(position) AS position FROM events')
  const before = last.get()!.position
  const answer = log.append(stream, revision - 1, batch)
  await new Promise(process.nextTick)
  while (last.get()!.position === before);
  return { answer }
}

/** The events of a stream after a cursor, up to a revision. */
async function followed(log: SqliteLog, stream: string, after: Cursor, upTo: number): Promise<RecordedEvent[]> {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const seen: RecordedEvent[] = []
  for await (const page of log.subscribe(after, stop.signal)) {
    seen.push(...page.filter(({ header }) => header.stream === stream))
    if ((seen.at(-1)?.header.revision ?? -1) >= upTo) break
  }
  return seen
}

describe('while an append awaits its answer', () => {
  test('a stream that is read and then followed from an earlier head misses nothing of it', async () => {
    const log = await owner()
    const sealer = new Sealer()
    const first = sealer.batch('agent-a', NEW, [{}])
    await log.append('agent-a', -1, first)
    const second = sealer.batch('agent-a', tipOf(first), [{}])
    const { answer } = await committed(log, second)
    const head = await log.headCursor()
    const seen = await collect(log.read('agent-a'))
    await answer
    await log.append('agent-a', 1, sealer.batch('agent-a', tipOf(second), [{}]))
    expect(revisions([...seen, ...(await followed(log, 'agent-a', head, 2))])).toEqual([0, 1, 2])
  })

  test('nor is it given twice, also where this owner has written nothing else to the stream', async () => {
    const log = await owner()
    const sealer = new Sealer()
    await log.append('agent-b', -1, sealer.batch('agent-b', NEW, [{}]))
    const first = sealer.batch('agent-a', NEW, [{}, {}])
    const { answer } = await committed(log, first)
    const head = await log.headCursor()
    const seen = await collect(log.read('agent-a'))
    expect(await log.head('agent-a')).toBeNull()
    expect((await log.streams('agent-').next()).value).toEqual(['agent-b'])
    await answer
    expect(revisions([...seen, ...(await followed(log, 'agent-a', head, 1))])).toEqual([0, 1])
    expect(await log.head('agent-a')).toMatchObject({ revision: 1 })
  })

  test('a body that it erases is gone only together with the fact that names it', async () => {
    const log = await owner()
    const sealer = new Sealer()
    const said = sealer.batch('agent-a', NEW, [{}])
    await log.append('agent-a', -1, said)
    const fact = sealer.batch('agent-a', tipOf(said), [{ type: 'erased', body: erasedBody(...said) }])
    const { answer } = await committed(log, fact)
    const told = (events: readonly RecordedEvent[]) => events.map(({ header, erased }) => [header.type, erased])
    const gone = [
      ['noted', true],
      ['erased', undefined],
    ]
    expect(told(await collect(log.read('agent-a')))).toEqual(gone)
    await answer
    expect(told(await collect(log.read('agent-a')))).toEqual(gone)
    expect(told(await followed(log, 'agent-a', await firstOf(log), 1))).toEqual(gone)
  })
})

/** The cursor of the log's own first event. */
async function firstOf(log: SqliteLog): Promise<Cursor> {
  for await (const [first] of log.readAll(null, { limit: 1 })) return log.cursor(first!)
  throw new Error('the log is empty')
}
