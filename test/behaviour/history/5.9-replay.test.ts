import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { Tool, Workspace } from '../../../domain/ports/index.ts'
import { call, calls, completes, USER } from '../../support/harness.ts'
import { faulty } from '../../support/log/faulty.ts'
import { NO_SECRETS } from '../../support/secrets/no-secrets.ts'
import { given, tool } from '../../support/story.ts'

const signal = new AbortController().signal
const NEVER = new Promise<never>(() => undefined)

/** A run whose process dies at the first crash point of this name, after the tool's effect where `after` is set. */
async function crashed(one: Tool, point: 'before_tool' | 'after_tool', workspace: Workspace | null = null) {
  let dead = false
  const death = Promise.withResolvers<void>()
  const run = await given({
    says: [calls(call(one.spec.name, { a: 1, path: 'p' })), completes()],
    tools: [one],
    ports: {
      environment: async () => ({
        workspace,
        sandbox: null,
        secrets: NO_SECRETS,
        reap: async () => undefined,
        close: async () => undefined,
      }),
      crashPoint: (name) => {
        if (dead) return NEVER
        if (name !== point) return undefined
        dead = true
        death.resolve()
        return NEVER
      },
    },
  })
  void run.drive()
  await death.promise
  const other = run.elsewhere({ crashPoint: () => undefined })
  return { ...run, other, resume: () => other.drive(run.runId, { signal }) }
}

describe('5.9.1 tool calls have stable ids', () => {
  test('ours derive from agent, turn and index; the provider’s own is kept beside and used on the wire', async () => {
    const twice = calls(call('look', {}, 'same'), call('look', {}, 'same'))
    const run = await given({
      says: [twice, twice, completes()],
      tools: [tool('look')],
      spec: { policy: { mode: 'batch' } },
    })
    await run.drive()
    const ids = (await run.of('tool_call_end')).map(({ toolCallId }) => toolCallId)
    expect(ids).toEqual([run.call(1, 0), run.call(1, 1), run.call(2, 0), run.call(2, 1), run.call(3)])
    expect(run.seen(1).slice(-2)).toMatchObject([
      { toolCallId: run.call(1, 0), providerCallId: 'same' },
      { toolCallId: run.call(1, 1), providerCallId: 'same' },
    ])
  })

  test('an attempt after a crash bears the same id', async () => {
    const seen: string[] = []
    const put = tool('put', { effect: 'idempotent' }, (_, context) =>
      seen.push(`${context.toolCallId}#${context.attempt}`),
    )
    const run = await crashed(put, 'after_tool')
    expect(await run.resume()).toEqual({ end: 'done' })
    expect(seen).toEqual([`${run.call(1)}#1`, `${run.call(1)}#2`])
  })
})

describe('5.9.2 inputs and outputs of tools are in the history', () => {
  test('the arguments in the answer that asked, the result in the end of the call, raw text verbatim', async () => {
    const asked = { ...call('look'), input_text: '{"b":1,"a":[2]}' }
    const run = await given({ says: [calls(asked), completes()], tools: [tool('look', {}, (args) => ({ got: args }))] })
    await run.drive()
    expect((await run.of('model_call_end'))[0]?.body.content[0]).toMatchObject({ input_text: '{"b":1,"a":[2]}' })
    expect((await run.of('tool_call_end'))[0]?.body.result).toEqual({ got: { a: [2], b: 1 } })
  })
})

describe('5.9.3 what has effects does not run again by itself', () => {
  test.each(['pure', 'idempotent'] as const)('%s runs again', async (effect) => {
    const one = tool('one', { effect })
    const run = await crashed(one, 'after_tool')
    expect(await run.resume()).toEqual({ end: 'done' })
    expect(one.ran).toHaveLength(2)
  })

  test.each(['before_tool', 'after_tool'] as const)(
    'irreversible is in doubt and waits for a person (%s)',
    async (point) => {
      const send = tool('send', { effect: 'irreversible' })
      const run = await crashed(send, point)
      const before = send.ran.length
      expect(await run.resume()).toEqual({ end: 'waiting', for: 'doubt', toolCallIds: [run.call(1)] })
      expect(await run.resume()).toMatchObject({ for: 'doubt' })
      expect(send.ran).toHaveLength(before)
    },
  )

  test.each([
    ['happened', 1, ['send: ok', 'complete_task: ok']],
    ['run', 2, ['send: ok', 'complete_task: ok']],
    ['abandon', 1, ['send: UNKNOWN_OUTCOME', 'complete_task: ok']],
  ] as const)('the answer "%s"', async (decision, runs, ends) => {
    const send = tool('send', { effect: 'irreversible' })
    const run = await crashed(send, 'after_tool')
    await run.resume()
    const answer = { kind: 'resolve_doubt', toolCallId: run.call(1), decision } as const
    await run.other.execute(
      run.runId,
      { ...answer, ...(decision === 'happened' ? { result: 'seen it' } : {}) },
      { by: USER },
    )
    await expect(run.other.execute(run.runId, answer, { by: USER })).rejects.toMatchObject({ name: 'CommandRejected' })
    expect(await run.resume()).toEqual({ end: 'done' })
    expect(send.ran).toHaveLength(runs)
    expect(await run.ends()).toEqual(ends)
    if (decision === 'happened') expect((await run.of('tool_call_end'))[0]?.body.result).toBe('seen it')
  })

  describe('reconcilable asks its probe', () => {
    const cases = [
      ['happened', async () => ({ found: 'happened', result: { content: 'was there' } }), 1, { end: 'done' }],
      ['absent', async () => ({ found: 'absent' }), 2, { end: 'done' }],
      ['unknown', async () => ({ found: 'unknown' }), 1, { end: 'waiting', for: 'doubt' }],
      ['broken', async () => Promise.reject(new Error('no connection')), 1, { end: 'waiting', for: 'doubt' }],
    ] as const
    test.each(cases)('%s', async (_, probe, runs, end) => {
      const save = tool('save', { effect: 'reconcilable' }, () => 'ok', probe as Tool['probe'])
      const run = await crashed(save, 'after_tool')
      expect(await run.resume()).toMatchObject(end)
      expect(save.ran).toHaveLength(runs)
    })

    test('without one it is in doubt', async () => {
      const save = tool('save', { effect: 'reconcilable' })
      const run = await crashed(save, 'after_tool')
      expect(await run.resume()).toMatchObject({ for: 'doubt' })
      expect(save.ran).toHaveLength(1)
      expect((await run.of('tool_call_unknown'))[0]?.body.reason).toMatch(/^save has no probe/)
    })

    test('neither asked nor run where a link leads its path elsewhere since: in doubt', async () => {
      let leads = 'a'
      const folder = { path: '/w', resolve: async () => leads, versions: { snapshot: async () => 't' } }
      let probed = 0
      const save = tool(
        'save',
        { effect: 'reconcilable', paths: { path: 'write' } },
        () => 'ok',
        async () => {
          probed++
          return { found: 'absent' }
        },
      )
      const run = await crashed(save, 'after_tool', folder as unknown as Workspace)
      leads = 'b'
      expect(await run.resume()).toMatchObject({ end: 'waiting', for: 'doubt' })
      expect([save.ran.length, probed]).toEqual([1, 0])
      expect((await run.of('tool_call_unknown'))[0]?.body.reason).toMatch(/^save cannot be asked after: .*a link/)
    })

    test('a person who says "run it" is not asked again by the probe', async () => {
      const save = tool(
        'save',
        { effect: 'reconcilable' },
        () => 'ok',
        async () => ({ found: 'unknown' }),
      )
      const run = await crashed(save, 'after_tool')
      await run.resume()
      await run.other.execute(
        run.runId,
        { kind: 'resolve_doubt', toolCallId: run.call(1), decision: 'run' },
        { by: USER },
      )
      expect(await run.resume()).toEqual({ end: 'done' })
      expect(save.ran).toHaveLength(2)
    })
  })

  /** A run whose log cannot be read so often when the call is about to begin. */
  async function unreadable(times: number, more: () => void = () => undefined) {
    const send = tool('send', { effect: 'irreversible' })
    let left = times
    let armed = false
    const memory = new MemoryLog()
    const log = faulty(memory, {
      read: (...args) => {
        if (armed) throw new LogError('LOG_UNAVAILABLE', 'not now')
        return memory.read(...args)
      },
    })
    const crashPoint = (name: string) => {
      armed = name === 'before_tool' && left-- > 0
      if (armed) more()
    }
    const run = await given({ says: [calls(call('send')), completes()], tools: [send], ports: { log, crashPoint } })
    return { ...run, send }
  }

  test('what was never begun is in no doubt: where the log could not be read just before, it is tried again', async () => {
    const run = await unreadable(1)
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.send.ran).toHaveLength(1)
    expect((await run.of('tool_call_retry')).map(({ body }) => [body.attempt, body.error.code])).toEqual([
      [2, 'EXECUTION_FAILED'],
    ])
    expect(await run.ends()).toEqual(['send: ok', 'complete_task: ok'])
  })

  test('nor where it could not be read for long, or the driver was being stopped', async () => {
    const run = await unreadable(2)
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['send: EXECUTION_FAILED', 'complete_task: ok'])
    const stop = new AbortController()
    const stopped = await unreadable(1, () => stop.abort(new Error('stop')))
    expect(await stopped.drive(stop.signal)).toEqual({ end: 'interrupted' })
    expect(await stopped.elsewhere().drive(stopped.runId, { signal })).toEqual({ end: 'done' })
    expect(await stopped.ends()).toEqual(['send: EXECUTION_FAILED', 'complete_task: ok'])
    expect([...run.send.ran, ...stopped.send.ran]).toEqual([])
  })

  test('the late result of a driver that was overtaken is accepted as a fact', async () => {
    const started = Promise.withResolvers<void>()
    const sent = Promise.withResolvers<string>()
    const send = tool('send', { effect: 'irreversible' }, () => {
      started.resolve()
      return sent.promise
    })
    const run = await given({ says: [calls(call('send')), completes()], tools: [send] })
    const first = run.drive()
    await started.promise
    const other = run.elsewhere()
    expect(await other.drive(run.runId, { signal })).toMatchObject({ for: 'doubt' })
    sent.resolve('sent after all')
    expect(await first).toMatchObject({ end: 'overtaken', epoch: 2 })
    expect(await other.drive(run.runId, { signal })).toEqual({ end: 'done' })
    expect((await run.of('tool_call_end'))[0]?.body).toMatchObject({ success: true, result: 'sent after all' })
    expect(send.ran).toHaveLength(1)
  })

  test.each([
    ['while the run goes on', false],
    ['when the run has ended', true],
  ])('a result that comes after the call was given up is told and changes nothing: %s', async (_, ended) => {
    const started = Promise.withResolvers<void>()
    const sent = Promise.withResolvers<string>()
    const answer = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const send = tool('send', { effect: 'irreversible' }, () => {
      started.resolve()
      return sent.promise
    })
    const says = [
      calls(call('send')),
      async () => {
        asked.resolve()
        await answer.promise
        return completes()
      },
    ]
    const run = await given({ says, tools: [send] })
    const first = run.drive()
    await started.promise
    const other = run.elsewhere()
    expect(await other.drive(run.runId, { signal })).toMatchObject({ for: 'doubt' })
    await run.say({ kind: 'resolve_doubt', toolCallId: run.call(1), decision: 'abandon' })
    const second = other.drive(run.runId, { signal })
    await asked.promise
    if (ended) {
      answer.resolve()
      expect(await second).toEqual({ end: 'done' })
    }
    const before = (await run.state()).machine
    sent.resolve('sent after all')
    await first
    const [late, ...more] = await run.of('late_outcome')
    expect(late).toMatchObject({
      toolCallId: run.call(1),
      body: { success: true, attempt: 1, result: 'sent after all' },
    })
    expect([more, (await run.state()).machine]).toEqual([[], before])
    answer.resolve()
    expect(await second).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['send: UNKNOWN_OUTCOME', 'complete_task: ok'])
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })
})
