import { describe, expect, test } from 'vitest'
import { ModelError } from '../../../domain/calls/errors.ts'
import { completes, seededRandom } from '../../support/harness.ts'
import { given, type Said } from '../../support/story.ts'

const signal = new AbortController().signal
const NEVER = new Promise<never>(() => undefined)

describe('a lost model call', () => {
  /** A run whose model attempts lose their drivers so often, and fail or answer after that. */
  async function losing(times: number, says: readonly Said[], maxRetries = 2) {
    let left = times
    let died = Promise.withResolvers<void>()
    const crashPoint = (name: string) => {
      if (name !== 'after_model' || left === 0) return undefined
      left--
      died.resolve()
      return NEVER
    }
    const run = await given({ says, spec: { retry: { maxRetries, backoffMs: 10 } }, ports: { crashPoint } })
    for (let i = 0; i < times; i++) {
      void run.elsewhere({ random: seededRandom(`driver ${i}`) }).drive(run.runId, { signal })
      await died.promise
      died = Promise.withResolvers<void>()
    }
    return run
  }

  test('is no failure: as many retries as ever are left', async () => {
    const busy = new ModelError('OVERLOADED', 'busy', { transient: true })
    const run = await losing(2, [completes(), completes(), busy, busy, completes()])
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('model_attempt_lost')).map(({ body }) => body.attempt)).toEqual([1, 2])
    expect((await run.of('error')).map(({ body }) => [body.attempt, body.delayMs! < 20])).toEqual([
      [3, true],
      [4, false],
    ])
    expect((await run.of('model_call_end'))[0]).toMatchObject({ turn: 1, body: { attempt: 5 } })
  })

  test('is not made anew for ever', async () => {
    const run = await losing(6, [completes()])
    const error = expect.stringContaining('6 drivers in a row were lost')
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'MODEL_FAILED', error })
    expect(run.requests).toHaveLength(6)
  })

  test('is told with estimated tokens, and made anew in the same turn', async () => {
    const death = Promise.withResolvers<void>()
    let alive = true
    const crashPoint = (name: string) => {
      if (name !== 'after_model' || !alive) return undefined
      alive = false
      death.resolve()
      return NEVER
    }
    const run = await given({ says: [completes()], ports: { crashPoint } })
    void run.drive()
    await death.promise
    expect(await run.elsewhere().drive(run.runId, { signal })).toEqual({ end: 'done' })
    const [lost] = await run.of('model_attempt_lost')
    expect(lost?.body).toMatchObject({ attempt: 1, usage: { input: expect.any(Number) } })
    expect(lost!.body.usage.input).toBeGreaterThan(100)
    expect((await run.of('model_call_end'))[0]).toMatchObject({ turn: 1, body: { attempt: 2 } })
  })
})
