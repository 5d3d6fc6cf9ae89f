import { describe, expect, test } from 'vitest'
import { LogError } from '../../domain/log/errors.ts'
import { call, calls, completes, says } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

describe('5.6.1 the events of a run', () => {
  test('turn_start, turn_end, tool_call_start, tool_call_end, recovery, completion and error', async () => {
    const done = await given({
      says: [calls(call('look')), completes()],
      tools: [tool('look')],
      spec: { limits: { maxTurns: 4, wallClockMs: null } },
    })
    await done.drive()
    const failed = await given({ says: [says('no')] })
    await failed.drive()
    const types = new Set([...(await done.types()), ...(await failed.types())])
    for (const type of [
      'turn_start',
      'turn_end',
      'tool_call_start',
      'tool_call_end',
      'recovery',
      'completion',
      'error',
    ])
      expect(types).toContain(type)
  })

  test('each call has exactly one start and one end, a refused one too; further attempts are retries', async () => {
    let n = 0
    const flaky = tool('flaky', {}, () => {
      if (n++ === 0)
        throw Object.assign(new Error('reset'), { name: 'ToolError', code: 'EXECUTION_FAILED', transient: true })
    })
    const run = await given({ says: [calls(call('flaky')), calls(call('no_such')), completes()], tools: [flaky] })
    await run.drive()
    const ids = [run.call(1), run.call(2), run.call(3)]
    expect((await run.of('tool_call_start')).map(({ toolCallId }) => toolCallId)).toEqual(ids)
    expect((await run.of('tool_call_end')).map(({ toolCallId }) => toolCallId)).toEqual(ids)
    const [retry] = await run.of('tool_call_retry')
    expect(retry).toMatchObject({ toolCallId: ids[0], body: { attempt: 2, delayMs: expect.any(Number) } })
    expect((await run.of('tool_call_end')).map(({ body }) => body.attempt)).toEqual([2, 1, 1])
  })
})

describe('5.6.2 each event bears run, agent, turn, timestamp and call', () => {
  test('in turns their number, outside of them 0, for every actor', async () => {
    const run = await given({ says: [calls(call('write_file')), completes()], tools: [tool('write_file')] })
    await run.drive()
    await run.say({ kind: 'cancel', deadlineMs: 100 })
    const events = await run.events()
    expect(events.every(({ runId, agentId }) => runId === run.runId && agentId === run.runId)).toBe(true)
    const turns = Object.fromEntries(events.map(({ type, turn }) => [type, turn]))
    expect(turns).toMatchObject({
      agent_started: 0,
      user_input: 0,
      turn_start: 1,
      model_call_end: 1,
      tool_call_start: 1,
      cancel_requested: 1,
      tool_call_end: 1,
      turn_end: 1,
      error: 1,
    })
    const by = Object.fromEntries(events.map(({ type, actor }) => [type, actor.kind]))
    expect(by).toMatchObject({
      user_input: 'user',
      model_call_end: 'model',
      tool_call_start: 'driver',
      cancel_requested: 'user',
      tool_call_end: 'system',
      turn_end: 'system',
      error: 'system',
    })
    expect((await run.runtime.at(run.runId, { turn: 1 })).state.turn).toBe(1)
  })

  test('as they are stored: each with its time, and those of a call with the call', async () => {
    const run = await given({ says: [calls(call('write_file')), completes()], tools: [tool('write_file')] })
    await run.drive()
    await run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
    await run.drive()
    const stored = (await Array.fromAsync(run.log.read(`agent-${run.runId}`))).flat().map(({ header }) => header)
    const ofCalls = stored.filter(({ type }) => /^(tool_call|approval)_/.test(type))
    expect(ofCalls.map(({ type, turn, toolCallId }) => [type, turn, toolCallId])).toEqual([
      ['tool_call_start', 1, run.call(1)],
      ['approval_requested', 1, run.call(1)],
      ['approval_decided', 1, run.call(1)],
      ['tool_call_intent', 1, run.call(1)],
      ['tool_call_end', 1, run.call(1)],
      ['tool_call_start', 2, run.call(2)],
      ['tool_call_end', 2, run.call(2)],
    ])
    for (const { runId, agentId, turn, timestamp } of stored) {
      expect([runId, agentId]).toEqual([run.runId, run.runId])
      expect(turn).toBeGreaterThanOrEqual(0)
      expect(new Date(timestamp).toISOString()).toBe(timestamp)
    }
  })
})

describe('5.6.3 the log is append-only and ordered', () => {
  test('times never decrease, also when the clock does', async () => {
    const run = await given({
      says: [calls(call('look')), completes()],
      tools: [
        tool('look', {}, () => {
          run.clock.time -= 60_000
        }),
      ],
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    const times = (await run.events()).map(({ at }) => at)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('a failing append fails the drive; nothing is swallowed', async () => {
    const run = await given({ says: [completes()] })
    const { append } = run.log
    run.log.append = async () => {
      throw new LogError('LOG_FULL', 'no room')
    }
    await expect(run.drive()).rejects.toMatchObject({ code: 'LOG_FULL' })
    run.log.append = append
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('so does one in the middle of a turn', async () => {
    const full = tool('look', {}, () => {
      run.log.append = async () => {
        throw new LogError('LOG_FULL', 'no room')
      }
    })
    const run = await given({ says: [calls(call('look')), completes()], tools: [full] })
    await expect(run.drive()).rejects.toMatchObject({ code: 'LOG_FULL' })
    expect((await run.types()).at(-1)).toBe('tool_call_start')
  })
})
