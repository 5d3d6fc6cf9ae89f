import { expect, test } from 'vitest'
import { completes, USER } from '../support/harness.ts'
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
  expect(await run.say(input, 'new')).toMatchObject({ revision: revision + 1, recorded: true })
  expect(await run.say(input, 'new')).toMatchObject({ recorded: false })
})

test('a resume of a run that nobody has driven is in the log before anybody drives it', async () => {
  const run = await given({ says: [completes()] })
  expect(await run.say({ kind: 'resume' }, 'k')).toMatchObject({ recorded: true })
  expect(await run.types()).toEqual(['agent_started', 'user_input', 'resumed'])
  expect(await run.drive()).toEqual({ end: 'done' })
})
