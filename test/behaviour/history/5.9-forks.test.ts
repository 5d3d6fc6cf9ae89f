import { describe, expect, test } from 'vitest'
import { Transcript } from '../../../domain/agent/state/transcript.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { call, calls, completes, says, testModel, USER } from '../../support/harness.ts'
import { given } from '../../support/story.ts'
import { VirtualClock } from '../../support/time/virtual-clock.ts'

const price = { asOf: '2026-01-01', input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
const usage = { input: 2_000, output: 100, cacheRead: 0, cacheWrite: 0 }
const sets = { ...calls(call('set_context', { key: 'a', value: 1 })), usage }
const budget = { tokens: 20_000, nanoDollars: null }

/** A run whose budget is spent after some turns, and a fork of it. */
async function forked(options: object, spec = {}) {
  const clock = new VirtualClock()
  const answer = async () => {
    await clock.sleep(5_000)
    return sets
  }
  const run = await given({ says: [answer], spec: { budget, ...spec }, ports: { clock } })
  await run.drive()
  const { runId } = await run.runtime.fork(run.runId, { step: 6 }, options, { by: USER })
  const state = async () => (await run.runtime.at(runId, null)).state
  const drive = () => run.runtime.drive(runId, { signal: new AbortController().signal })
  return { run, runId, state, drive }
}

describe('5.9: a fork spends and works on its own account', () => {
  test('what its source had spent is kept beside; its budget is whole, and so is its time', async () => {
    const { run, state, drive } = await forked({}, { limits: { maxTurns: 25, wallClockMs: 60_000 } })
    const before = (await run.runtime.at(run.runId, { step: 6 })).state
    const made = await state()
    expect(before.spent.input).toBeGreaterThan(0)
    expect(made).toMatchObject({ inherited: before.spent, spent: { input: 0, output: 0, nanoDollars: 0 } })
    expect(before.clock.workedMs).toBeGreaterThan(10_000)
    expect(made.clock.workedMs).toBe(0)
    await drive()
    const { spent, inherited } = await state()
    expect(spent.input).toBeGreaterThan(before.spent.input)
    expect(inherited).toEqual(before.spent)
    const again = (await run.runtime.fork((await state()).runId, null, {}, { by: USER })).runId
    const { inherited: all } = (await run.runtime.at(again, null)).state
    expect(all.input).toBe(before.spent.input + spent.input)
  })

  test('its budget can be another one', async () => {
    const { state, drive, run, runId } = await forked({ budget: { tokens: 9_000 } })
    expect((await state()).spec.budget).toEqual({ tokens: 9_000, nanoDollars: null })
    await drive()
    expect((await state()).spent.input).toBeLessThan(9_000)
    expect((await run.runtime.verify(runId)).problems).toEqual([])
    const free = await forked({ budget: { tokens: null } })
    expect((await free.state()).spec.budget.tokens).toBeNull()
  })

  test('a money budget needs prices, as at a start', async () => {
    const money = { budget: { nanoDollars: 5 } }
    await expect(forked(money)).rejects.toMatchObject({ code: 'SPEC_REFUSED' })
    const models = { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, price }] }
    expect((await (await forked(money, { models })).state()).spec.budget.nanoDollars).toBe(5)
  })
})

describe('5.7: a request that is rebuilt is the one that was sent', () => {
  test('a build that words a message otherwise says that it cannot', async () => {
    const cut = { ...says('abc'), stopReason: 'max_tokens' as const }
    const run = await given({ says: [cut, completes()] })
    await run.drive()
    const rebuilt = await run.runtime.requests(run.runId, 2)
    expect(rebuilt.map(({ request }) => request.messages)).toEqual([run.seen(1)])
    const { push } = Transcript.prototype
    Transcript.prototype.push = function (event) {
      push.call(this, event)
      const last = this.messages.at(-1) as { content: unknown } | undefined
      if (event.type === 'turn_end' && last) last.content = 'another build says this'
    }
    try {
      const refused = {
        code: 'REQUEST_NOT_REBUILDABLE',
        message: expect.stringContaining('messages come out different'),
      }
      await expect(run.runtime.requests(run.runId, 2)).rejects.toMatchObject(refused)
    } finally {
      Transcript.prototype.push = push
    }
  })
})

describe('a fork of a run that ended with a refusal', () => {
  const refused = (...content: Block[]) => ({ content, stopReason: 'refusal' as const })
  const text = { type: 'text', text: 'I will not' } as const

  test.each([
    ['beside text', refused(text, call('look')), [text]],
    ['alone', refused(call('look')), null],
  ])('is told of no call without an answer: %s', async (_, refusal, told) => {
    const run = await given({ says: [refusal, completes()] })
    expect(await run.drive()).toMatchObject({ code: 'MODEL_REFUSED' })
    const { runId } = await run.runtime.fork(run.runId, null, {}, { by: USER })
    await run.runtime.execute(runId, { kind: 'input', text: 'and now?' }, { by: USER })
    expect(await run.runtime.drive(runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
    expect(run.seen(1).filter(({ role }) => role === 'assistant')).toEqual(
      told === null ? [] : [{ role: 'assistant', content: told }],
    )
    const { state, messages } = await run.runtime.at(runId, null)
    expect(messages).toHaveLength(state.messages.count)
    expect((await run.runtime.requests(runId, 2)).map(({ request }) => request.messages)).toEqual([run.seen(1)])
    // What the provider said is in the log all the same.
    expect((await run.of('model_call_end'))[0]?.body.content).toEqual(refusal.content)
  })
})
