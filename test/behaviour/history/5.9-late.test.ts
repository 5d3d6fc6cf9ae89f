import { describe, expect, test } from 'vitest'
import { decideAgent } from '../../../domain/agent/decide/decide.ts'
import { ToolError } from '../../../domain/calls/errors.ts'
import { call, calls, completes, seededRandom, USER } from '../../support/harness.ts'
import { given, tool } from '../../support/story.ts'

// A late outcome, for which no step waits any more, is recorded once, billed, and changes nothing else.

const { signal } = new AbortController()
const usage = (input: number) => ({ input, output: 7, cacheRead: 0, cacheWrite: 0 })
const price = { asOf: '2026-01-01', input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 }

/** A run whose first model call answers when it is released; later ones end the run. */
async function slow() {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const known = [
    {
      ...{ id: 'test-model', provider: 'test', contextTokens: 200_000, maxOutputTokens: 4_096, timeoutMs: 100_000_000 },
      ...{ price, forcesCalls: true },
    },
  ]
  const run = await given({
    says: [
      async () => {
        asked.resolve()
        await answer.promise
        return { ...completes('first'), usage: usage(999_999), requestId: 'req-1' }
      },
      { ...completes('second'), usage: usage(1) },
    ],
    spec: { models: { requested: 'test-model', safeDefault: 'test-model', known } },
  })
  const first = run.drive()
  await asked.promise
  const late = async () => {
    answer.resolve()
    await first
    return (await run.of('model_late')).map(({ turn, body, causationId }) => ({ turn, ...body, causationId }))
  }
  return { ...run, late, other: run.elsewhere({ random: seededRandom('b') }) }
}

const told = { turn: 1, attempt: 1, purpose: 'turn', usage: usage(999_999), servedBy: 'test-model', requestId: 'req-1' }

describe('a model’s answer that comes late', () => {
  test('takes the place of the estimate, also when the run has ended', async () => {
    const run = await slow()
    expect(await run.other.drive(run.runId, { signal })).toEqual({ end: 'done' })
    const [lost] = await run.of('model_attempt_lost')
    const before = (await run.state()).spent
    expect(before.input).toBe(lost!.body.usage.input + 1)
    const [late, ...more] = await run.late()
    expect(more).toEqual([])
    expect(late).toMatchObject({ ...told, nanoDollars: 999_999 + 14 })
    expect(late!.causationId).toBe(`agent-${run.runId}@${lost!.revision}`)
    const { spent, machine, lostAttempts } = await run.state()
    expect([spent.input, spent.output, spent.nanoDollars]).toEqual([1_000_000, 14, 999_999 + 14 + 1 + 14])
    expect([machine.status, lostAttempts]).toEqual(['DONE', []])
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('is billed after a cancel too', async () => {
    const run = await slow()
    await run.say({ kind: 'cancel', deadlineMs: 10_000 })
    expect((await run.state()).machine).toMatchObject({ status: 'ERROR', code: 'CANCELLED' })
    expect(await run.late()).toMatchObject([told])
    expect((await run.state()).spent.input).toBe(999_999)
  })

  test('is none of a turn that has asked anew: the answer of another turn is not taken for this one’s', async () => {
    const run = await slow()
    await run.other.drive(run.runId, { signal })
    expect((await run.of('model_call_end')).map(({ body }) => body.usage.input)).toEqual([1])
    await run.late()
    expect((await run.of('model_call_end')).map(({ body }) => body.usage.input)).toEqual([1])
  })
})

describe('a person’s word on a run that has ended', () => {
  const hanging = async () => {
    const started = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string>()
    const send = tool('send', { effect: 'irreversible' }, () => {
      started.resolve()
      return answer.promise
    })
    const run = await given({ says: [calls(call('send')), completes()], tools: [send] })
    const driven = run.drive()
    await started.promise
    await run.say({ kind: 'cancel', deadlineMs: 100 })
    return { ...run, driven, answer }
  }
  const resolve = (toolCallId: string, decision: 'happened' | 'run' | 'abandon' = 'happened') =>
    ({ kind: 'resolve_doubt', toolCallId, decision }) as const

  test('is taken once, of a call that ended with an unknown outcome', async () => {
    const run = await hanging()
    expect(await run.driven).toMatchObject({ code: 'CANCELLED' })
    expect((await run.state()).unresolved).toEqual([run.call(1)])
    await expect(run.say(resolve('no-such-call'))).rejects.toMatchObject({ code: 'OUTCOME_NOT_IN_DOUBT' })
    await expect(run.say(resolve(run.call(1), 'run'))).rejects.toMatchObject({ code: 'RUN_FINISHED' })
    expect(await run.say(resolve(run.call(1)))).toMatchObject({ recorded: true })
    await expect(run.say(resolve(run.call(1)))).rejects.toMatchObject({ code: 'OUTCOME_NOT_IN_DOUBT' })
    expect(await run.of('tool_call_resolved')).toHaveLength(1)
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('is not asked for where a person had given the call up before, or where all is known', async () => {
    const run = await given({ says: [calls(call('look')), completes()], tools: [tool('look')] })
    expect(await run.drive()).toEqual({ end: 'done' })
    for (const id of [run.call(1), run.call(2)])
      await expect(run.say(resolve(id))).rejects.toMatchObject({ code: 'OUTCOME_NOT_IN_DOUBT' })
  })
})

describe('the outcome of a call whose driver was overtaken', () => {
  /** A payment at work in one process, in doubt in another, on which a person has said what became of it. */
  async function overtaken(decision: 'happened' | 'run' | 'abandon') {
    const started = Promise.withResolvers<void>()
    const outcome = Promise.withResolvers<string>()
    const pay = tool('pay', { effect: 'irreversible', timeLimitMs: 100_000_000 }, () => {
      started.resolve()
      return pay.ran.length === 1 ? outcome.promise : 'paid again'
    })
    const run = await given({ says: [calls(call('pay')), completes()], tools: [pay] })
    const first = run.drive()
    await started.promise
    const other = run.elsewhere()
    expect(await other.drive(run.runId, { signal })).toMatchObject({ for: 'doubt' })
    await run.say({ kind: 'resolve_doubt', toolCallId: run.call(1), decision })
    const goOn = () => other.drive(run.runId, { signal })
    const late = async () => (await run.of('late_outcome')).map(({ body }) => [body.attempt, body.result ?? body.error])
    return { ...run, pay, first, goOn, outcome, late }
  }

  test('it happened: what a person has let run does not happen again', async () => {
    const run = await overtaken('run')
    run.outcome.resolve('paid')
    await run.first
    expect(await run.goOn()).toEqual({ end: 'done' })
    expect(run.pay.ran).toHaveLength(1)
    expect((await run.of('tool_call_end'))[0]?.body).toMatchObject({ success: true, attempt: 1, result: 'paid' })
    expect(await run.late()).toEqual([])
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('it failed: the model is told, and decides itself', async () => {
    const run = await overtaken('run')
    run.outcome.reject(new ToolError('CONFLICT', 'the account is closed'))
    await run.first
    expect(await run.goOn()).toEqual({ end: 'done' })
    expect(run.pay.ran).toHaveLength(1)
    expect(await run.ends()).toEqual(['pay: CONFLICT', 'complete_task: ok'])
  })

  test.each(['happened', 'abandon'] as const)('a person has said "%s": it is known all the same', async (decision) => {
    const run = await overtaken(decision)
    run.outcome.resolve('paid')
    await run.first
    expect(await run.late()).toEqual([[1, 'paid']])
    expect(await run.goOn()).toEqual({ end: 'done' })
    expect(run.pay.ran).toHaveLength(1)
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test.each(['happened', 'run', 'abandon'] as const)(
    'the run has ended after "%s": it is known once',
    async (decision) => {
      const run = await overtaken(decision)
      expect(await run.goOn()).toEqual({ end: 'done' })
      run.outcome.resolve('paid')
      await run.first
      expect(await run.late()).toEqual([[1, 'paid']])
      const { state } = await run.runtime.at(run.runId, null)
      const fact = { kind: 'tool_succeeded', toolCallId: run.call(1), toolName: 'pay', durationMs: 1 } as const
      const bring = (attempt: number) =>
        decideAgent(
          state,
          { agentId: run.runId, runId: run.runId, revision: state.revision },
          { ...fact, attempt, result: { content: 'paid' } },
          {
            ...{ now: state.at, salt: () => new Uint8Array(16), jitter: () => 0 },
            ...{ by: USER, commandId: 'again', driver: { id: 'a', epoch: 1 } },
          },
        ).drafts
      // Brought in again, and of an attempt whose end was seen.
      expect([bring(1), bring(2)]).toEqual([[], []])
    },
  )
})
