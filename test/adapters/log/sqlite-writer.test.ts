import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteLog } from '../../../adapters/log-sqlite/open.ts'
import { spawnWriter } from '../../../adapters/log-sqlite/writer-thread.ts'
import { tempFolder } from '../../support/folders.ts'
import { BEFORE, collect, NEW, Sealer, tipOf } from '../../support/sealing.ts'

test('appends that wait when the writer dies are in doubt; sent again they are in the log once', async () => {
  const workers: Worker[] = []
  const spawn = (folder: string) => {
    const worker = spawnWriter(folder)
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
  const sent = batches.map(({ stream, batch }) => log.append(stream, -1, batch))
  const ended = workers[0]!.terminate()
  const results = await Promise.allSettled(sent)
  await ended
  const doubtful = results.filter(({ status }) => status === 'rejected')
  expect(doubtful.length).toBeGreaterThan(0)
  for (const result of results)
    if (result.status === 'rejected')
      expect(result.reason).toMatchObject({ code: 'LOG_UNAVAILABLE', message: expect.stringContaining('resend') })
  for (const { stream, batch } of batches) await log.append(stream, -1, batch)
  expect(workers).toHaveLength(2)
  for (const { stream, batch } of batches)
    expect((await collect(log.read(stream))).map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
  // The new writer goes on where the old one was.
  const { stream, batch } = batches[0]!
  await log.append(stream, 1, sealer.batch(stream, tipOf(batch), [{}]))
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
