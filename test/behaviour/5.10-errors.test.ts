import { describe, expect, test } from 'vitest'
import type { UserCommand } from '../../domain/agent/decide/commands.ts'
import { ToolError } from '../../domain/calls/errors.ts'
import { errorSignature } from '../../domain/calls/judge-retry.ts'
import { call, calls, completes } from '../support/harness.ts'
import { ROLE } from '../support/plans.ts'
import { given, tool } from '../support/story.ts'

const fails = (n: number, message: (attempt: number) => string, more = {}, code = 'EXECUTION_FAILED') => {
  const one = tool('one', { effect: 'pure', ...more }, (_, { attempt }) => {
    if (attempt <= n) throw new ToolError(code as 'TIMEOUT', message(attempt), { transient: true })
    return 'at last'
  })
  return one
}
const letters = (attempt: number) => `reset ${'abcdefgh'[attempt]}`
const once = calls(call('one', { a: 1 }))

describe('5.10.1 failed calls are retried up to maxRetries, with exponential backoff', () => {
  test('the delays double from 1000 ms, and stand in the log', async () => {
    const one = fails(2, letters)
    const run = await given({ says: [once, completes()], tools: [one], spec: { retry: {} } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(one.ran).toHaveLength(3)
    const delays = (await run.of('tool_call_retry')).map(({ body }) => body.delayMs)
    expect(delays[0]).toBeGreaterThanOrEqual(1_000)
    expect(delays[0]).toBeLessThanOrEqual(1_100)
    expect(delays[1]).toBeGreaterThanOrEqual(2_000)
    expect(delays[1]).toBeLessThanOrEqual(2_200)
    const [start, end] = [(await run.of('tool_call_start'))[0]!, (await run.of('tool_call_end'))[0]!]
    expect(end.at - start.at).toBeGreaterThanOrEqual(delays[0]! + delays[1]!)
  })

  test('then it is RETRY_EXHAUSTED, and what was tried is told', async () => {
    const one = fails(9, letters)
    const run = await given({ says: [once, completes()], tools: [one] })
    await run.drive()
    expect(one.ran).toHaveLength(3)
    expect(await run.ends()).toEqual(['one: RETRY_EXHAUSTED', 'complete_task: ok'])
    expect(await run.message()).toMatch(/3 attempts.*EXECUTION_FAILED.*reset/)
  })

  test('a cap bounds the delay, maxRetries 0 means none', async () => {
    const capped = await given({
      says: [once, completes()],
      tools: [fails(5, letters)],
      spec: { retry: { maxRetries: 6, backoffMs: 4_000, backoffCapMs: 5_000 } },
    })
    await capped.drive()
    expect((await capped.of('tool_call_retry')).every(({ body }) => body.delayMs <= 5_000)).toBe(true)
    const none = fails(1, letters)
    const run = await given({ says: [once, completes()], tools: [none], spec: { retry: { maxRetries: 0 } } })
    await run.drive()
    expect(none.ran).toHaveLength(1)
    expect(await run.ends()).toEqual(['one: EXECUTION_FAILED', 'complete_task: ok'])
  })
})

describe('5.10.2 an identical signature is not retried a second time', () => {
  test('two failures of one kind, and the call has failed with its own code', async () => {
    const one = fails(9, (attempt) => `reset of connection ${attempt} at 10:0${attempt}`)
    const run = await given({ says: [once, completes()], tools: [one], spec: { retry: { maxRetries: 5 } } })
    await run.drive()
    expect(one.ran).toHaveLength(2)
    expect(await run.ends()).toEqual(['one: EXECUTION_FAILED', 'complete_task: ok'])
  })

  test('numbers, ids and times do not tell signatures apart; tool, code and words do', () => {
    const same = errorSignature('t', 'C', 'job 12 of 0b7e3a52-1111-4222-8333-944444444444 failed at 12:30')
    expect(errorSignature('t', 'C', 'Job 7 of ffffffff-1111-4222-8333-944444444444  failed at 09:05')).toBe(same)
    expect(errorSignature('u', 'C', 'job 12')).not.toBe(errorSignature('t', 'C', 'job 12'))
    expect(errorSignature('t', 'D', 'job 12')).not.toBe(errorSignature('t', 'C', 'job 12'))
    expect(errorSignature('t', 'C', 'jab 12')).not.toBe(errorSignature('t', 'C', 'job 12'))
  })
})

describe('5.10.3 transient errors are retried, permanent ones never', () => {
  test.each([
    ['permanent', { transient: false }, 'pure', 1],
    ['transient', { transient: true }, 'pure', 2],
    ['transient, idempotent', { transient: true }, 'idempotent', 2],
    ['transient, irreversible', { transient: true }, 'irreversible', 1],
    ['transient and before the effect, irreversible', { transient: true, beforeEffect: true }, 'irreversible', 2],
  ] as const)('%s', async (_, error, effect, runs) => {
    const one = tool('one', { effect }, (_args, { attempt }) => {
      if (attempt === 1) throw new ToolError('EXECUTION_FAILED', 'no', error)
    })
    const run = await given({ says: [once, completes()], tools: [one] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(one.ran).toHaveLength(runs)
  })

  test('a reconcilable one asks its probe before it is tried again', async () => {
    const one = tool(
      'one',
      { effect: 'reconcilable' },
      () => {
        throw new ToolError('EXECUTION_FAILED', 'lost the answer', { transient: true })
      },
      async () => ({ found: 'happened', result: { content: 'it is there' } }),
    )
    const run = await given({ says: [once, completes()], tools: [one] })
    await run.drive()
    expect(one.ran).toHaveLength(1)
    expect(await run.ends()).toEqual(['one: ok', 'complete_task: ok'])
  })

  test('retryableErrors names codes that count as transient', async () => {
    const one = tool('one', {}, (_, { attempt }) => {
      if (attempt === 1) throw new ToolError('CONFLICT', 'busy')
    })
    const run = await given({
      says: [once, completes()],
      tools: [one],
      spec: { retry: { retryableErrors: ['CONFLICT'], backoffMs: 1 } },
    })
    await run.drive()
    expect(one.ran).toHaveLength(2)
  })
})

describe('5.10.4 the error reaches the model in the next turn', () => {
  test('code, message and attempts', async () => {
    const run = await given({ says: [once, completes()], tools: [fails(9, () => 'no route to host')] })
    await run.drive()
    expect(run.seen(1).at(-1)).toMatchObject({
      role: 'tool',
      isError: true,
      content: expect.stringMatching(/^EXECUTION_FAILED: no route to host.*2/),
    })
  })
})

describe('DUPLICATE_FAILED_ACTION', () => {
  const broken = () =>
    tool('one', {}, () => {
      throw new ToolError('EXECUTION_FAILED', 'broken')
    })
  const ends = async (says: Parameters<typeof given>[0]['says'], spec = {}, more: ReturnType<typeof tool>[] = []) => {
    const run = await given({ says: [...says, completes()], tools: [broken(), ...more], spec })
    await run.drive()
    return run
  }
  const codes = async (run: Awaited<ReturnType<typeof given>>) =>
    (await run.ends()).filter((end) => end.startsWith('one')).map((end) => end.slice(5))

  test('the same call that failed for good is refused; other arguments are not', async () => {
    const run = await ends([once, once, calls(call('one', { a: 2 }))])
    expect(await codes(run)).toEqual(['EXECUTION_FAILED', 'DUPLICATE_FAILED_ACTION', 'EXECUTION_FAILED'])
  })

  test('a conflict with how things stand is a failure like any other', async () => {
    const taken = tool('one', {}, () => {
      throw new ToolError('CONFLICT', '"x" is a directory')
    })
    const run = await given({ says: [once, once, completes()], tools: [taken] })
    await run.drive()
    expect(await codes(run)).toEqual(['CONFLICT', 'DUPLICATE_FAILED_ACTION'])
    expect(taken.ran).toHaveLength(1)
  })

  test('the order of the arguments’ members does not matter', async () => {
    const run = await ends([calls(call('one', { a: 1, b: 2 })), calls(call('one', { b: 2, a: 1 }))])
    expect(await codes(run)).toEqual(['EXECUTION_FAILED', 'DUPLICATE_FAILED_ACTION'])
  })

  test.each([
    ['a call of a tool that is not pure', calls(call('put')), 'EXECUTION_FAILED'],
    ['a pure call', calls(call('look')), 'DUPLICATE_FAILED_ACTION'],
    ['a control tool', calls(call('set_context', { key: 'k', value: 1 })), 'DUPLICATE_FAILED_ACTION'],
  ])('%s between them', async (_, between, second) => {
    const run = await ends([once, between, once], {}, [tool('put', { effect: 'idempotent' }), tool('look')])
    expect(await codes(run)).toEqual(['EXECUTION_FAILED', second])
  })

  test('a phase that changed, input that came and a standing approval forgive it', async () => {
    const role = { ...ROLE, phases: ROLE.phases.map(({ name }) => ({ name, allowedTools: ['one'] })), qualityGates: [] }
    const phase = await ends([once, calls(call('advance_phase', { summary: 's' })), once], { role })
    expect(await codes(phase)).toEqual(['EXECUTION_FAILED', 'EXECUTION_FAILED'])
    const commands: UserCommand[] = [
      { kind: 'input', text: 'try again' },
      { kind: 'standing_approval', tools: ['one'] },
    ]
    for (const command of commands) {
      const run: Awaited<ReturnType<typeof given>> = await given({
        says: [
          once,
          async () => {
            await run.say(command)
            return calls(call('set_context', { key: 'k', value: 1 }))
          },
          once,
          completes(),
        ],
        tools: [broken()],
      })
      await run.drive()
      expect(await codes(run)).toEqual(['EXECUTION_FAILED', 'EXECUTION_FAILED'])
    }
  })

  test.each([
    ['after it had failed forgives it', 'reads', 'RESOURCE_NOT_FOUND'],
    ['before it failed does not', 'waits', 'DUPLICATE_FAILED_ACTION'],
  ])('input that comes beside another call of its turn %s', async (_, first, second) => {
    let said = false
    const run: Awaited<ReturnType<typeof given>> = await given({
      says: [
        calls(call('one', { first }, 'x1'), call('beside', {}, 'x2')),
        calls(call('one', { first }, 'x3')),
        completes(),
      ],
      tools: [
        tool('one', {}, async () => {
          if (first === 'waits') await run.clock.sleep(500)
          throw new ToolError('RESOURCE_NOT_FOUND', 'no such file')
        }),
        tool('beside', {}, async () => {
          await run.clock.sleep(200)
          if (!said) await run.say({ kind: 'input', text: 'it is there now' })
          said = true
        }),
      ],
      spec: { policy: { mode: 'batch' } },
    })
    await run.drive()
    const ends = (await run.ends()).filter((end) => end.startsWith('one'))
    expect(ends).toEqual(['one: RESOURCE_NOT_FOUND', `one: ${second}`])
  })

  test('refusals and denials never count', async () => {
    const denied = await ends([once, once], { policy: { deniedTools: ['one'] } })
    expect(await codes(denied)).toEqual(['PERMISSION_DENIED', 'PERMISSION_DENIED'])
  })

  test('complete_task may always be tried again', async () => {
    const blank = calls(call('complete_task', { summary: ' ' }))
    const run = await given({ says: [blank, blank, completes()] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.ends()).slice(0, 2)).toEqual([
      'complete_task: INVALID_ARGUMENTS',
      'complete_task: INVALID_ARGUMENTS',
    ])
  })
})
