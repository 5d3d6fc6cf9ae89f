import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { ensureFile, openToWrite } from '../../../../adapters/sqlite/log/connection.ts'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { LogWriter } from '../../../../adapters/sqlite/log/writer.ts'
import { spawnWriter } from '../../../../adapters/sqlite/log/writer-thread.ts'
import { tempFolder } from '../../../support/folders.ts'
import { BEFORE, bytesOf, collect, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'

test('appends that wait when the writer dies have an unknown outcome; sent again they are in the log once', async () => {
  const workers: Worker[] = []
  let lose = false
  const spawn = (folder: string) => {
    const worker = spawnWriter(folder)
    const emit = worker.emit.bind(worker)
    // However much of it was written: none of the answers arrives.
    worker.emit = (name: string, ...args: unknown[]) => (lose && name === 'message' ? true : emit(name, ...args))
    workers.push(worker)
    return worker
  }
  const log = await openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE, spawn })
  onTestFinished(() => log.close())
  const sealer = new Sealer()
  const batches = Array.from({ length: 40 }, (_, n) => {
    const stream = `agent-${n}`
    return { stream, batch: sealer.batch(stream, NEW, [{}, {}]) }
  })
  lose = true
  const sent = batches.map(({ stream, batch }) => log.append(stream, -1, batch))
  const ended = workers[0]!.terminate()
  const doubt = expect.objectContaining({ code: 'LOG_UNAVAILABLE', message: expect.stringContaining('resend') })
  await Promise.all(sent.map((one) => expect(one).rejects.toEqual(doubt)))
  await ended
  lose = false
  for (const { stream, batch } of batches) await log.append(stream, -1, batch)
  expect(workers).toHaveLength(2)
  for (const { stream, batch } of batches)
    expect((await collect(log.read(stream))).map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
  // The new writer goes on where the old one was.
  const { stream, batch } = batches[0]!
  await log.append(stream, 1, sealer.batch(stream, tipOf(batch), [{}]))
})

test('appends of one tick cross to the writer in one message, in their order, before what is asked after them', async () => {
  const sent: unknown[] = []
  const spawn = (folder: string) => {
    const worker = spawnWriter(folder)
    const post = worker.postMessage.bind(worker)
    worker.postMessage = (message, transfer) => {
      sent.push(message)
      post(message, transfer as never)
    }
    return worker
  }
  const log = await openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE, spawn })
  // The log's identity has been written.
  sent.length = 0
  const sealer = new Sealer()
  const first = sealer.batch('agent-a', NEW, [{}])
  const other = sealer.batch('agent-b', NEW, [{}, {}])
  const next = sealer.batch('agent-a', tipOf(first), [{}])
  const appended = [log.append('agent-a', -1, first), log.append('agent-b', -1, other), log.append('agent-a', 0, next)]
  const closed = log.close()
  expect((await Promise.all(appended)).map(({ position }) => position)).toEqual([2, 4, 5])
  await closed
  expect(sent).toEqual([[expect.anything(), expect.anything(), expect.anything()], 'look', 'close'])
})

test('a subscription outlives the writer', async () => {
  let worker: Worker | undefined
  const spawn = (folder: string) => {
    worker = spawnWriter(folder)
    return worker
  }
  const log = await openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE, spawn })
  onTestFinished(() => log.close())
  const stop = new AbortController()
  const pages = log.subscribe(await log.headCursor(), stop.signal)[Symbol.asyncIterator]()
  const next = pages.next()
  await worker!.terminate()
  const batch = new Sealer().batch('agent-a1', NEW, [{}])
  await log.append('agent-a1', -1, batch)
  expect((await next).value).toMatchObject([{ id: batch[0]!.id }])
  stop.abort()
})

test('an append whose answer was lost is in the log: subscribers see it, sent again it is there once', async () => {
  let worker: Worker | undefined
  let lose = false
  const spawn = (folder: string) => {
    const real = spawnWriter(folder)
    const emit = real.emit.bind(real)
    // The answer is dropped on its way, as when the writer dies right after its commit.
    real.emit = (name: string, ...args: unknown[]) => (lose && name === 'message' ? true : emit(name, ...args))
    worker ??= real
    return real
  }
  const log = await openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE, spawn })
  onTestFinished(() => log.close())
  const stop = new AbortController()
  const pages = log.subscribe(await log.headCursor(), stop.signal)[Symbol.asyncIterator]()
  const next = pages.next()
  lose = true
  const batch = new Sealer().batch('agent-a1', NEW, [{}, {}])
  const sent = log.append('agent-a1', -1, batch)
  const doubt = expect(sent).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  await expect.poll(async () => (await log.head('agent-a1'))?.revision).toBe(1)
  await worker!.terminate()
  await doubt
  lose = false
  expect((await next).value).toMatchObject(batch.map(({ id }) => ({ id })))
  await log.append('agent-a1', -1, batch)
  expect((await collect(log.read('agent-a1'))).map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
  stop.abort()
})

test('in a group that does not fit, each append has its own outcome', () => {
  const folder = tempFolder()
  ensureFile(folder)
  const db = openToWrite(folder)
  onTestFinished(() => db.close())
  const writer = new LogWriter(db, folder)
  const sealer = new Sealer()
  let id = 0
  const job = (stream: string, tip = NEW, body = 'small') => {
    const batch = sealer.batch(stream, tip, [{ body }])
    return { id: id++, stream, expected: tip.revision, batch, erase: [] }
  }
  const first = job('agent-a')
  expect(writer.commit([first])).toEqual([{ id: 0, position: 1 }])
  const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count)
  db.exec(`PRAGMA max_page_count = ${pages + 4}`)
  const noise = Buffer.from(bytesOf('noise', 50_000)).toString('base64')
  const [fits, big, late, also] = [
    job('agent-b'),
    job('agent-c', NEW, noise),
    job('agent-a'),
    job('agent-a', tipOf(first.batch)),
  ]
  expect(writer.commit([fits, big, late, also])).toEqual([
    { id: 1, position: 2 },
    { id: 2, failure: expect.objectContaining({ code: 'LOG_FULL' }) },
    { id: 3, failure: expect.objectContaining({ code: 'CONFLICT' }) },
    // Sealed after the big one, which is not there: only its own stream and the log's time count.
    { id: 4, position: 3 },
  ])
  db.exec('PRAGMA max_page_count = 1000000')
  const again = job('agent-c', NEW, noise)
  expect(writer.commit([again, job('agent-c', tipOf(again.batch))])).toMatchObject([{ position: 4 }, { position: 5 }])
})
