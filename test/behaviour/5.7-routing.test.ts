import { describe, expect, test } from 'vitest'
import { ModelError } from '../../domain/calls/errors.ts'
import { call, calls, completes, testModel } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const models = {
  requested: 'big',
  safeDefault: 'small',
  known: [
    { ...testModel, id: 'big' },
    { ...testModel, id: 'small' },
  ],
}
const network = new ModelError('NETWORK', 'reset', { transient: true })

describe('5.7.1, 5.7.2 a concrete model before each call, recorded', () => {
  test('requested, resolved, reason, policy and purpose stand before every model call', async () => {
    const run = await given({ says: [calls(call('look')), completes()], tools: [tool('look')], spec: { models } })
    await run.drive()
    const types = (await run.types()).filter((type) => type.startsWith('model_'))
    expect(types).toEqual([
      'model_routed',
      'model_call_start',
      'model_call_end',
      'model_routed',
      'model_call_start',
      'model_call_end',
    ])
    expect((await run.of('model_routed'))[0]?.body).toMatchObject({
      requested: 'big',
      resolved: 'big',
      reason: 'the run names big',
      policy: 'quality',
      purpose: 'turn',
    })
    expect(run.requests.map(({ model }) => model)).toEqual(['big', 'big'])
  })
})

describe('5.7.3 where routing fails, the safe default', () => {
  test('a model that the run does not know', async () => {
    const run = await given({ says: [completes()], spec: { models: { ...models, requested: 'gone' } } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('model_routed'))[0]?.body).toMatchObject({
      requested: 'gone',
      resolved: 'small',
      reason: expect.stringContaining('safe default'),
    })
  })

  test('a safe default that the run does not know is refused at start', async () => {
    await expect(
      given({ says: [completes()], spec: { models: { ...models, safeDefault: 'gone' } } }),
    ).rejects.toMatchObject({ code: 'SPEC_REFUSED' })
  })
})

describe('5.7.4 no model changes within a turn', () => {
  test('retries stay with the model; a turn without an answer ends, and the next one resolves anew', async () => {
    const run = await given({ says: [network, network, network, completes()], spec: { models } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.requests.map(({ model }) => model)).toEqual(['big', 'big', 'big', 'small'])
    expect((await run.of('turn_end')).map(({ body }) => body.outcome)).toEqual(['failed', 'calls'])
    expect((await run.of('error')).map(({ body }) => body.recoverable)).toEqual([true, true, true])
  })
})

describe('failing models', () => {
  test('a permanent failure ends the run at once', async () => {
    const run = await given({ says: [new ModelError('AUTHENTICATION', 'bad key')], spec: { models } })
    expect(await run.drive()).toMatchObject({
      end: 'error',
      code: 'MODEL_FAILED',
      error: expect.stringContaining('bad key'),
    })
    expect(run.requests).toHaveLength(1)
  })

  test('three turns in a row without an answer too', async () => {
    const run = await given({ says: [network], spec: { models, retry: { maxRetries: 0 } } })
    expect(await run.drive()).toMatchObject({ code: 'MODEL_FAILED' })
    expect(run.requests).toHaveLength(3)
  })

  test('a context that does not fit says so', async () => {
    const tight = { ...models, known: models.known.map((model) => ({ ...model, contextTokens: 100 })) }
    const run = await given({ says: [completes()], spec: { models: tight } })
    expect(await run.drive()).toMatchObject({ code: 'CONTEXT_OVERFLOW' })
    expect(run.requests).toHaveLength(0)
    const told = await given({ says: [new ModelError('CONTEXT_OVERFLOW', 'too long')], spec: { models } })
    expect(await told.drive()).toMatchObject({ code: 'CONTEXT_OVERFLOW' })
  })

  test('Retry-After is honoured, up to a minute', async () => {
    const wait = (retryAfterMs: number) => new ModelError('RATE_LIMITED', 'slow', { transient: true, retryAfterMs })
    const run = await given({ says: [wait(7_000), wait(900_000), completes()] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('error')).map(({ body }) => body.delayMs)).toEqual([7_000, 60_000])
  })

  test('no answer within the model’s time is a transient TIMEOUT', async () => {
    let n = 0
    const once = () => (n++ === 0 ? new Promise<never>(() => undefined) : completes())
    const run = await given({ says: [once] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('error'))[0]?.body).toMatchObject({ code: 'TIMEOUT', recoverable: true })
  })
})
