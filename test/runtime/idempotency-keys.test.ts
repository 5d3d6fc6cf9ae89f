import { expect, test } from 'vitest'
import { keyedCommand, keyOf } from '../../domain/log/ids.ts'
import { completes, testSpec, USER } from '../support/harness.ts'
import { given } from '../support/story.ts'

// Idempotency-Keys: what was acknowledged under one is not done a second time, and is not lost.

test('a request that found nothing to do still does nothing when it is made again', async () => {
  const run = await given({ says: [completes()] })
  await run.say({ kind: 'pause' }, 'p1')
  expect(await run.say({ kind: 'pause' }, 'p2')).toMatchObject({ recorded: true })
  await run.say({ kind: 'resume' }, 'r1')
  expect(await run.say({ kind: 'pause' }, 'p2')).toMatchObject({ recorded: false })
  expect((await run.state()).paused).toBe(false)
  expect((await run.of('request_noted')).map(({ body }) => body.request)).toEqual(['pause'])
})

test('without a key nothing is recorded of it', async () => {
  const run = await given({ says: [completes()] })
  await run.say({ kind: 'pause' })
  expect(await run.say({ kind: 'pause' })).toMatchObject({ recorded: false })
})

test('a key is known after hundreds of others, also in another process, and at an expected revision', async () => {
  const run = await given({ says: [completes()] })
  const input = { kind: 'input', text: 'transfer' } as const
  await run.say(input, 'K')
  for (let i = 0; i < 300; i++) await run.say({ kind: 'input', text: `${i}` }, `k${i}`)
  const { revision } = await run.state()
  expect(await run.say(input, 'K')).toEqual({ revision, recorded: false, claimed: false })
  expect(await run.say({ kind: 'input', text: '7' }, 'k7')).toMatchObject({ recorded: false })
  const elsewhere = (key: string) => run.elsewhere().execute(run.runId, input, { by: USER, key, expected: 0 })
  expect(await elsewhere('K')).toMatchObject({ revision, recorded: false })
  await expect(elsewhere('another')).rejects.toMatchObject({ code: 'REVISION_CHANGED' })
  // A different request under the same key is refused, however long ago the first one came.
  const other = { kind: 'input', text: 'other' } as const
  const reused = { code: 'IDEMPOTENCY_KEY_REUSED' }
  for (const key of ['K', 'k7', 'k299']) {
    await expect(run.say(other, key)).rejects.toMatchObject(reused)
    await expect(run.say({ kind: 'pause' }, key)).rejects.toMatchObject(reused)
    await expect(run.elsewhere().execute(run.runId, other, { by: USER, key })).rejects.toMatchObject(reused)
  }
  expect((await run.state()).revision).toBe(revision)
  expect(await run.say(input, 'new')).toMatchObject({ revision: revision + 1, recorded: true })
  await expect(run.say(other, 'new')).rejects.toMatchObject(reused)
  expect(await run.say(input, 'new')).toMatchObject({ recorded: false })
})

test('of two requests that come under one key at once in two processes, one is recorded and the other refused', async () => {
  const run = await given({ says: [completes()] })
  const say = (text: string) => run.elsewhere().execute(run.runId, { kind: 'input', text }, { by: USER, key: 'K' })
  const ended = await Promise.allSettled([say('this'), say('that'), say('this')])
  const codes = ended.map((one) => (one.status === 'rejected' ? one.reason.code : one.value.recorded))
  expect(codes.filter((code) => code === 'IDEMPOTENCY_KEY_REUSED').length).toBeGreaterThan(0)
  expect(codes.filter((code) => code === true)).toHaveLength(1)
  expect((await run.of('user_input')).length).toBe(2)
})

test('a start, a fork and an erasure hold to their key as any request does', async () => {
  const run = await given({ says: [completes()] })
  await run.drive()
  const reused = { code: 'IDEMPOTENCY_KEY_REUSED' }
  const key = 'K'
  const fork = (asked: unknown) => run.elsewhere().fork(run.runId, null, { runId: 'f' }, { by: USER, key, asked })
  expect(await fork({ step: 1 })).toEqual({ runId: 'f' })
  expect(await fork({ step: 1 })).toEqual({ runId: 'f' })
  await expect(fork({ step: 2 })).rejects.toMatchObject(reused)
  const start = (task: string) => {
    const command = { kind: 'start', spec: testSpec(), task } as const
    return run.elsewhere().execute('s', command, { by: USER, key, asked: { task } })
  }
  expect(await start('this')).toMatchObject({ recorded: true })
  expect(await start('this')).toMatchObject({ recorded: false })
  await expect(start('that')).rejects.toMatchObject(reused)
  const erase = (revision: number) => run.say({ kind: 'erase', revision, reason: 'asked' }, key)
  expect(await erase(1)).toMatchObject({ recorded: true })
  expect(await erase(1)).toMatchObject({ recorded: false })
  await expect(erase(0)).rejects.toMatchObject(reused)
})

test('what is kept of a key and of what was asked tells neither, and is another text in another log', () => {
  const ids = ['one', 'two'].flatMap((log) => ['K', 'L'].map((key) => keyedCommand(log, key, { text: 'yes' })))
  for (const id of ids) expect(id).toMatch(/^key:[0-9a-f]{32}:[0-9a-f]{32}$/)
  expect(new Set(ids.flatMap((id) => id.split(':').slice(1))).size).toBe(8)
  expect(keyedCommand('one', 'K', { more: undefined, text: 'yes' })).toBe(ids[0])
  expect(keyOf(keyedCommand('one', 'K', null))).toBe(keyOf(ids[0]!))
})

test('a resume of a run without a driver is in the log before a driver takes the run', async () => {
  const run = await given({ says: [completes()] })
  expect(await run.say({ kind: 'resume' }, 'k')).toMatchObject({ recorded: true })
  expect(await run.types()).toEqual(['agent_started', 'user_input', 'resumed'])
  expect(await run.drive()).toEqual({ end: 'done' })
})
