import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/log-memory/log.ts'
import { ConflictError } from '../../domain/log/errors.ts'
import { sweepBlobs } from '../../domain/runtime/blob-writes.ts'
import { completes, MemoryBlobs, MemoryIntents, USER } from '../support/harness.ts'
import { given } from '../support/story.ts'

const LONG = 'what a patient said '.repeat(5_000)

/** A run to which something long is being said when its process is killed. */
async function killed(at: 'after_blobs' | 'after_append') {
  const blobs = new MemoryBlobs()
  const intents = new MemoryIntents()
  const never = new Promise<void>(() => undefined)
  let passed = () => {}
  const dead = new Promise<void>((resolve) => {
    passed = resolve
  })
  let armed = false
  const crashPoint = async (name: string) => {
    if (!armed || name !== at) return
    passed()
    await never
  }
  const run = await given({ says: [completes()], ports: { blobs, intents, crashPoint } })
  armed = true
  run.runtime.execute(run.runId, { kind: 'input', text: LONG }, { by: USER }).catch(() => undefined)
  await dead
  expect(blobs.held.size).toBe(1)
  return { ...run, blobs, intents, next: { log: run.log, blobs, intents } }
}

test('what a killed process has stored for an event that never came to be is removed at the next start', async () => {
  const { next, blobs } = await killed('after_blobs')
  expect(await sweepBlobs(next)).toBe(1)
  expect(blobs.held.size).toBe(0)
  expect(await next.intents.left()).toEqual([])
  expect(await sweepBlobs(next)).toBe(0)
})

test('what the log names stays', async () => {
  const { next, blobs, runId, elsewhere, intents } = await killed('after_append')
  expect(await sweepBlobs(next)).toBe(0)
  expect(blobs.held.size).toBe(1)
  expect(await elsewhere().verify(runId)).toMatchObject({ ok: true, problems: [] })
  expect(await intents.left()).toEqual([])
})

test('nothing is left to look for after an append, and a start reads only the streams of what is left', async () => {
  const intents = new MemoryIntents()
  const run = await given({ says: [completes()], ports: { intents } })
  await run.runtime.execute(run.runId, { kind: 'input', text: LONG }, { by: USER })
  expect(await intents.left()).toEqual([])
  const log = { read: () => expect.fail('nothing is to be read') } as never
  expect(await sweepBlobs({ log, blobs: run.ports.blobs, intents })).toBe(0)
})

test('a note that cannot be taken back fails nothing that is recorded, nor hides why an append was refused', async () => {
  const intents = new MemoryIntents()
  intents.end = async () => Promise.reject(new Error('the disk is gone'))
  const log = new MemoryLog()
  const append = log.append.bind(log)
  let refused = 0
  log.append = async (stream, ...rest) => {
    if (refused++ === 1) throw new ConflictError(stream, 1, 2)
    return append(stream, ...rest)
  }
  const run = await given({ says: [completes()], ports: { log, intents } })
  const said = await run.runtime.execute(run.runId, { kind: 'input', text: LONG }, { by: USER })
  expect(said.recorded).toBe(true)
  expect(await run.of('user_input')).toHaveLength(2)
  await sweepBlobs({ log, blobs: run.ports.blobs, intents: Object.assign(intents, { end: async () => undefined }) })
  expect(await run.runtime.verify(run.runId)).toMatchObject({ ok: true, problems: [] })
})
