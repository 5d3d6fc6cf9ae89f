import { describe, expect, test } from 'vitest'
import type { UserCommand } from '../../domain/agent/decide/commands.ts'
import { call, calls, completes, says, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const signal = new AbortController().signal
const looks = calls(call('look'))

describe('section 6: the way of a run', () => {
  test('IDLE, THINKING, TOOL_WAIT, OBSERVATION, and round again to DONE', async () => {
    const run = await given({ says: [looks, completes()], tools: [tool('look')] })
    await run.drive()
    const statuses: string[] = []
    const { revision } = await run.state()
    for (let at = 0; at <= revision; at++) {
      const { status } = (await run.runtime.at(run.runId, { revision: at })).state.machine
      if (statuses.at(-1) !== status) statuses.push(status)
    }
    const turn = ['THINKING', 'TOOL_WAIT', 'OBSERVATION']
    expect(statuses).toEqual(['IDLE', ...turn, ...turn, 'DONE'])
  })

  test('a run without a task waits for input', async () => {
    const run = await given({ says: [completes()], task: null })
    expect(await run.drive()).toEqual({ end: 'waiting', for: 'input', toolCallIds: [] })
    await run.say({ kind: 'input', text: 'go' })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('ask_user leads to IDLE, the answer back to THINKING', async () => {
    const run = await given({ says: [calls(call('ask_user', { question: 'Which?' })), completes()] })
    expect(await run.drive()).toMatchObject({ for: 'input' })
    expect((await run.state()).machine.status).toBe('IDLE')
    expect((await run.of('tool_call_end'))[0]?.body.result).toContain('The question was put')
    await run.say({ kind: 'input', text: 'That.' })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.seen(1).at(-1)).toEqual({ role: 'user', content: 'That.' })
  })

  test.each<[string, UserCommand, string]>([
    ['an approval of nothing', { kind: 'decide_approval', toolCallId: 'x', decision: 'approved' }, 'CALL_NOT_OPEN'],
    ['an answer to no doubt', { kind: 'resolve_doubt', toolCallId: 'x', decision: 'run' }, 'CALL_NOT_OPEN'],
    ['an erasure of a live run', { kind: 'erase', revision: 0, reason: 'r' }, 'RUN_ACTIVE'],
  ])('%s is refused', async (_, command, code) => {
    const run = await given({ says: [completes()] })
    await expect(run.say(command)).rejects.toMatchObject({ code })
  })

  test('a run is started once', async () => {
    const run = await given({ says: [completes()] })
    const { spec } = await run.state()
    await expect(run.say({ kind: 'start', spec, task: 'x' })).rejects.toMatchObject({ code: 'RUN_EXISTS' })
  })
})

describe('pause, step, resume', () => {
  const pausing = (point: 'model' | 'tool') => {
    const pause = async () => void (await run.say({ kind: 'pause', reason: 'wait' }))
    const look = tool('look', {}, async () => {
      if (point === 'tool' && look.ran.length === 1) await pause()
    })
    const thinking = async () => {
      if (point === 'model') await pause()
      return looks
    }
    const started = given({ says: [thinking, looks, completes()], tools: [look] })
    let run: Awaited<typeof started>
    return started.then((one) => {
      run = one
      return { ...one, look }
    })
  }

  test('what runs, finishes; nothing new is started', async () => {
    const model = await pausing('model')
    expect(await model.drive()).toEqual({ end: 'waiting', for: 'pause', toolCallIds: [] })
    expect(model.look.ran).toEqual([])
    const during = await pausing('tool')
    expect(await during.drive()).toMatchObject({ for: 'pause' })
    expect(await during.ends()).toEqual(['look: ok'])
    expect(during.requests).toHaveLength(1)
    expect(await during.drive()).toMatchObject({ for: 'pause' })
  })

  test('resume goes on to the end', async () => {
    const run = await pausing('tool')
    await run.drive()
    await run.say({ kind: 'resume' })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('step goes on to the next turn_end', async () => {
    const run = await pausing('model')
    await run.drive()
    for (const turns of [1, 2]) {
      await run.say({ kind: 'step' })
      expect(await run.drive()).toMatchObject({ for: 'pause' })
      expect(await run.of('turn_end')).toHaveLength(turns)
    }
    await run.say({ kind: 'step' })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('a resume lifts a step that is under way', async () => {
    const run = await pausing('model')
    await run.drive()
    await run.say({ kind: 'step' })
    await run.say({ kind: 'resume' })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('a pause does not count against the time of the run', async () => {
    const run = await given({
      says: [looks, completes()],
      tools: [tool('look', {}, async () => void (await run.say({ kind: 'pause' })))],
      spec: { limits: { maxTurns: 25, wallClockMs: 1_000 } },
    })
    await run.drive()
    run.clock.time += 3_600_000
    await run.say({ kind: 'resume' })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.of('recovery')).toEqual([])
  })

  test('a paused run whose driver died starts nothing when it is driven again', async () => {
    const never = new Promise<never>(() => undefined)
    const died = Promise.withResolvers<void>()
    const look = tool('look')
    const crashPoint = async (name: string) => {
      if (name !== 'before_tool') return
      await run.elsewhere({ crashPoint: () => undefined }).execute(run.runId, { kind: 'pause' }, { by: USER })
      died.resolve()
      await never
    }
    const run = await given({ says: [looks, completes()], tools: [look], ports: { crashPoint } })
    void run.drive()
    await died.promise
    const other = run.elsewhere({ crashPoint: () => undefined })
    expect(await other.drive(run.runId, { signal })).toMatchObject({ end: 'waiting', for: 'pause' })
    expect(look.ran).toEqual([])
    await other.execute(run.runId, { kind: 'resume' }, { by: USER })
    expect(await other.drive(run.runId, { signal })).toEqual({ end: 'done' })
    expect(look.ran).toHaveLength(1)
  })
})

describe('cancel', () => {
  test('with nothing at work it ends the run at once, without a driver', async () => {
    const run = await given({ says: [completes()] })
    await run.say({ kind: 'cancel', deadlineMs: 100, reason: 'no more' })
    expect((await run.state()).machine).toMatchObject({ status: 'ERROR', code: 'CANCELLED' })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'CANCELLED' })
  })

  test('what is at work is told, and acknowledged by its end', async () => {
    const look = tool('look', { timeLimitMs: 60_000 }, async (_, { signal: own }) => {
      await run.say({ kind: 'cancel', deadlineMs: 5_000 })
      await run.clock.sleep(30_000, own)
    })
    const run = await given({ says: [looks], tools: [look] })
    expect(await run.drive()).toMatchObject({ code: 'CANCELLED' })
    expect(await run.ends()).toEqual(['look: CANCELLED'])
    expect((await run.types()).slice(-3)).toEqual(['tool_call_end', 'turn_end', 'error'])
  })

  test.each([
    ['irreversible', 'UNKNOWN_OUTCOME'],
    ['pure', 'CANCELLED'],
  ] as const)('what does not answer by the deadline is settled: %s is %s', async (effect, code) => {
    const deaf = tool('look', { effect, timeLimitMs: 1_000_000 }, async () => {
      await run.say({ kind: 'cancel', deadlineMs: 2_000 })
      return new Promise(() => undefined)
    })
    const run = await given({ says: [looks], tools: [deaf] })
    expect(await run.drive()).toMatchObject({ code: 'CANCELLED' })
    expect(await run.ends()).toEqual([`look: ${code}`])
  })

  test('a model call in flight is lost, and told on the bill', async () => {
    const run = await given({
      says: [
        async () => {
          await run.say({ kind: 'cancel', deadlineMs: 2_000 })
          return says('too late')
        },
      ],
    })
    expect(await run.drive()).toMatchObject({ code: 'CANCELLED' })
    expect(await run.of('model_attempt_lost')).toHaveLength(1)
  })

  test('what waits for an approval is cancelled, not run', async () => {
    const write = tool('write_file')
    const run = await given({ says: [calls(call('write_file'))], tools: [write] })
    await run.drive()
    await run.say({ kind: 'cancel', deadlineMs: 100 })
    expect(await run.ends()).toEqual(['write_file: CANCELLED'])
    expect(write.ran).toEqual([])
  })

  test('a second cancel changes nothing', async () => {
    const run = await given({
      says: [looks],
      tools: [
        tool('look', { effect: 'irreversible' }, async () => {
          await run.say({ kind: 'cancel', deadlineMs: 900 })
          await run.say({ kind: 'cancel', deadlineMs: 1 })
        }),
      ],
    })
    await run.drive()
    expect(await run.of('cancel_requested')).toHaveLength(1)
  })
})

describe('an interrupted driver', () => {
  test('leaves what may run again to the next one, and starts nothing more', async () => {
    const stop = new AbortController()
    const put = tool('look', { effect: 'idempotent' }, async (_, { signal: own, attempt }) => {
      if (attempt > 1) return 'again'
      stop.abort(new Error('stop'))
      await run.clock.sleep(500, own)
      return 'first'
    })
    const run = await given({ says: [looks, completes()], tools: [put] })
    expect(await run.drive(stop.signal)).toEqual({ end: 'interrupted' })
    const before = await run.types()
    expect(before.at(-1)).toBe('tool_call_start')
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('tool_call_end'))[0]?.body).toMatchObject({ success: true, attempt: 2, result: 'again' })
  })

  test('brings in what it saw end, and starts nothing more', async () => {
    const stop = new AbortController()
    const send = tool('look', { effect: 'irreversible' }, async () => {
      stop.abort(new Error('stop'))
      return 'sent'
    })
    const run = await given({ says: [looks, completes()], tools: [send] })
    expect(await run.drive(stop.signal)).toEqual({ end: 'interrupted' })
    expect((await run.types()).at(-1)).toBe('tool_call_end')
    expect(run.requests).toHaveLength(1)
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(send.ran).toHaveLength(1)
    expect(await run.of('model_attempt_lost')).toEqual([])
  })
})
