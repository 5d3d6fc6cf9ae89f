import { describe, expect, test } from 'vitest'
import { ModelError } from '../../domain/calls/errors.ts'
import { Decider } from '../support/decider.ts'
import { call, calls, completes, says, testModel } from '../support/harness.ts'
import { ROLE } from '../support/plans.ts'
import { given, tool } from '../support/story.ts'

const limits = (maxTurns: number, wallClockMs: number | null = null) => ({ maxTurns, wallClockMs })
const blank = calls(call('complete_task', { summary: ' ' }))
const working = calls(call('look', {}))

async function warned(run: Awaited<ReturnType<typeof given>>) {
  const [warning] = (await run.of('recovery')).filter(({ body }) => body.phase === 'final_warning')
  return warning
}

describe('5.2.1 the final warning', () => {
  test.each([
    [6, 2, 4],
    [6, 0, 6],
    [2, 2, 1],
    [1, 0, 1],
  ])('of %i turns and %i grace turns it comes on turn %i, as a system message', async (maxTurns, graceTurns, turn) => {
    const says = [...Array(turn - 1).fill(working), completes()]
    const run = await given({
      says,
      tools: [tool('look')],
      spec: { limits: limits(maxTurns), recovery: { graceTurns } },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await warned(run)).toMatchObject({
      turn,
      body: { maxTurns, graceTurns, deadlineMs: 60_000, reason: 'turns' },
    })
    expect(run.seen(turn - 1).at(-1)).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/^Final warning/),
    })
    expect(run.offered(turn - 1)).toEqual(['complete_task'])
    if (turn > 1) expect(run.offered(turn - 2)).toContain('look')
  })

  test('the template is filled in', async () => {
    const recovery = { warningTemplate: '{reason}; {graceTurns} of {maxTurns}' }
    const run = await given({ says: [completes()], spec: { limits: limits(2), recovery } })
    await run.drive()
    expect((await warned(run))?.body).toMatchObject({ warning: 'the turn limit is reached; 2 of 2' })
  })

  test('it comes when the wall-clock limit passes; waiting for people does not count', async () => {
    const slow = tool('look', { timeLimitMs: 100_000 }, async () => run.clock.sleep(6_000))
    const asks = calls(call('ask_user', { question: 'Well?' }))
    const run = await given({
      says: [working, asks, working, completes()],
      tools: [slow],
      spec: { limits: limits(25, 10_000) },
    })
    expect(await run.drive()).toMatchObject({ for: 'input' })
    run.clock.time += 3_600_000
    await run.say({ kind: 'input', text: 'this' })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await warned(run)).toMatchObject({ turn: 4, body: { reason: 'wall_clock' } })
  })

  test('a model that does not answer is given what is left of the time and the grace, and no second try', async () => {
    const silent = () => new Promise<never>(() => undefined)
    const slow = { ...testModel, timeoutMs: 3_600_000 }
    const run = await given({
      says: [working, silent, completes()],
      tools: [tool('look', { timeLimitMs: 100_000 }, async () => run.clock.sleep(6_000))],
      spec: {
        limits: limits(25, 10_000),
        recovery: { graceTimeoutMs: 30_000 },
        models: { requested: slow.id, safeDefault: slow.id, known: [slow] },
      },
    })
    const before = run.clock.time
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.clock.time - before).toBeLessThan(10_000 + 30_000 + 10_000)
    expect(await warned(run)).toMatchObject({ turn: 3, body: { reason: 'wall_clock' } })
    const failures = (await run.of('error')).map(({ body }) => [body.code, body.error, body.delayMs])
    expect(failures).toEqual([['TIMEOUT', 'no answer within 34000 ms', undefined]])
  })

  test('it comes when the budget is down to the place kept for it, at the start of a turn', async () => {
    const usage = { input: 100, output: 2_000, cacheRead: 0, cacheWrite: 0 }
    const run = await given({
      says: [{ ...working, usage }, { ...working, usage }, completes()],
      tools: [tool('look')],
      spec: { budget: { tokens: 13_000, nanoDollars: null } },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await warned(run))?.body).toMatchObject({ reason: 'budget' })
    const spent = (await run.state()).spent
    expect(spent.input + spent.output).toBeLessThanOrEqual(13_000)
  })

  test('a budget that has no room even for it ends the run', async () => {
    const run = await given({ says: [completes()], spec: { budget: { tokens: 300, nanoDollars: null } } })
    const error = expect.stringMatching(
      /^Recovery failed: BUDGET_EXCEEDED: the budget leaves no room .*; \d+ tokens are needed at least, not 300;/,
    )
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'RECOVERY_FAILED', error })
    expect((await run.of('recovery')).at(-1)?.body).toEqual({ phase: 'failed', reason: error })
    expect(run.requests).toHaveLength(0)
    const least = Number(/(\d+) tokens are needed/.exec(JSON.stringify(await run.of('recovery')))![1])
    // With as much there is a turn for the work, before the warning.
    const enough = await given({ says: [completes()], spec: { budget: { tokens: least, nanoDollars: null } } })
    expect([await enough.drive(), await enough.of('recovery')]).toEqual([{ end: 'done' }, []])
  })
})

describe('5.2.2 the warning turn calls complete_task at once', () => {
  test('then the run is DONE, and the recovery has succeeded', async () => {
    const run = await given({ says: [completes()], spec: { limits: limits(1) } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.types()).slice(-3)).toEqual(['turn_end', 'recovery', 'completion'])
    expect((await run.of('recovery')).at(-1)?.body).toEqual({ phase: 'succeeded' })
  })

  test.each([
    ['blank', blank],
    ['cut off', { ...completes(), stopReason: 'max_tokens' as const }],
    ['twice', calls(call('complete_task', { summary: 'a' }, 'x'), call('complete_task', { summary: 'b' }, 'y'))],
    ['paused', { content: [], stopReason: 'pause_turn' as const }],
  ])('a malformed one (%s) may be corrected', async (_, answer) => {
    const run = await given({ says: [answer, completes()], spec: { limits: limits(3) } })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('until min(maxTurns, warning turn + graceTurns)', async () => {
    const run = await given({ says: [blank], spec: { limits: limits(5), recovery: { graceTurns: 2 } } })
    expect(await run.drive()).toMatchObject({
      code: 'RECOVERY_FAILED',
      error: expect.stringContaining('Recovery failed'),
    })
    expect(run.requests.map((_, n) => run.offered(n).length === 1)).toEqual([false, false, true, true, true])
    const none = await given({ says: [blank], spec: { limits: limits(4), recovery: { graceTurns: 0 } }, task: 'x' })
    await none.drive()
    expect((await none.of('turn_start')).length).toBe(4)
  })

  test('without a hard limit until the grace time has passed', async () => {
    const slowly = async () => {
      await run.clock.sleep(9_000)
      return blank
    }
    const run = await given({ says: [slowly], spec: { limits: limits(1), recovery: { hardLimit: false } } })
    expect(await run.drive()).toMatchObject({ code: 'RECOVERY_FAILED', error: expect.stringContaining('grace time') })
    expect(run.requests.length).toBe(7)
  })

  test('input that comes then is counted as unread, and does not stop the completion', async () => {
    const run = await given({
      says: [
        async () => {
          await run.say({ kind: 'input', text: 'oh' })
          return completes()
        },
      ],
      spec: { limits: limits(1) },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('completion'))[0]?.body.unreadInput).toBe(1)
  })

  test('gates do not block it: DONE, with the unmet ones shown', async () => {
    const run = await given({
      says: [completes()],
      spec: { role: { ...ROLE, phases: [{ name: 'first', allowedTools: [] }] }, limits: limits(1) },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('completion'))[0]?.body.unmetGates).toEqual(['diagram_exists'])
  })
})

describe('5.2.3 no other tool is called in recovery', () => {
  test('it never runs, and the recovery has failed', async () => {
    const look = tool('look')
    const run = await given({ says: [working], tools: [look], spec: { limits: limits(1) } })
    expect(await run.drive()).toMatchObject({ code: 'RECOVERY_FAILED' })
    expect(look.ran).toEqual([])
    const [end] = await run.of('tool_call_end')
    expect(end?.body.error).toMatchObject({ code: 'PERMISSION_DENIED', rule: 'recovery' })
  })

  test('nor beside complete_task', async () => {
    const run = await given({
      says: [calls(call('look'), call('complete_task', { summary: 's' }))],
      tools: [tool('look')],
      spec: { limits: limits(3) },
    })
    expect(await run.drive()).toMatchObject({ code: 'RECOVERY_FAILED' })
  })

  test('after four turns with violations the code is still that of the recovery', async () => {
    const run = await given({ says: [calls(call('no_such'))], spec: { limits: limits(7) } })
    expect(await run.drive()).toMatchObject({ code: 'RECOVERY_FAILED' })
    expect(run.requests).toHaveLength(5)
  })
})

describe('5.2.4 a failed recovery is ERROR with partial output', () => {
  test('the last non-empty text of the assistant', async () => {
    const thought = { content: [{ type: 'text', text: 'found half' }, call('look')], stopReason: 'tool_use' } as const
    const run = await given({ says: [thought, working], tools: [tool('look')], spec: { limits: limits(4) } })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'RECOVERY_FAILED' })
    const [error] = (await run.of('error')).slice(-1)
    expect(error?.body).toMatchObject({
      partialOutput: 'found half',
      recoverable: false,
      error: expect.stringContaining('Recovery failed'),
    })
    expect((await run.of('recovery')).at(-1)?.body).toMatchObject({ phase: 'failed' })
  })

  test.each([
    ['no call', says('done')],
    ['a refusal', { content: [], stopReason: 'refusal' as const }],
  ])('%s fails it', async (_, answer) => {
    const run = await given({ says: [answer], spec: { limits: limits(3) } })
    expect(await run.drive()).toMatchObject({ code: 'RECOVERY_FAILED' })
    expect(run.requests).toHaveLength(1)
  })

  test('no answer within the grace time fails it, model retries included', async () => {
    const hang = () => new Promise<never>(() => undefined)
    const run = await given({ says: [hang], spec: { limits: limits(1), recovery: { graceTimeoutMs: 4_000 } } })
    expect(await run.drive()).toMatchObject({ code: 'RECOVERY_FAILED', error: expect.stringContaining('grace time') })
    expect(run.requests).toHaveLength(1)
  })

  test.each([
    ['within the grace time', 3_999, { status: 'DONE' }],
    ['when it has passed', 4_000, { status: 'ERROR', code: 'RECOVERY_FAILED' }],
  ])('a completion that is brought in %s, before a step has looked at the time', (_, afterMs, machine) => {
    const agent = new Decider({ limits: limits(1), recovery: { graceTimeoutMs: 4_000 } })
    const driver = agent.claim('d')
    agent.take({ kind: 'proceed' }, driver)
    agent.answers(driver, ['complete_task', { summary: 'done' }])
    agent.now += afterMs
    agent.succeeds(driver, 'complete_task', { input: { summary: 'done' } })
    expect(agent.state.machine).toMatchObject(machine)
  })

  test('a model that fails says so in the code', async () => {
    const run = await given({ says: [new ModelError('AUTHENTICATION', 'bad key')], spec: { limits: limits(1) } })
    expect(await run.drive()).toMatchObject({ code: 'MODEL_FAILED' })
    expect((await run.of('recovery')).at(-1)?.body).toMatchObject({ phase: 'failed' })
  })

  test('a context that does not fit says so in the text', async () => {
    const says = [new ModelError('CONTEXT_OVERFLOW', 'too long')]
    const run = await given({ says, spec: { limits: limits(1) } })
    const error = expect.stringMatching(/^Recovery failed: CONTEXT_OVERFLOW: .*too long/)
    expect(await run.drive()).toMatchObject({ code: 'RECOVERY_FAILED', error })
  })

  test('a cancel in recovery is CANCELLED', async () => {
    const run = await given({
      says: [
        async () => {
          await run.say({ kind: 'cancel', deadlineMs: 100 })
          return completes()
        },
      ],
      spec: { limits: limits(1) },
    })
    expect(await run.drive()).toMatchObject({ code: 'CANCELLED' })
  })
})
