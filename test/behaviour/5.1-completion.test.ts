import { describe, expect, test } from 'vitest'
import { CODER_SOP } from '../../domain/agent/definition/roles.ts'
import { evolveAgent, fold } from '../../domain/agent/state/evolve.ts'
import { call, calls, completes, says, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const complete = (args: object) => calls(call('complete_task', args))
const look = () => tool('look')

describe('5.1.1 complete_task is the only valid termination path', () => {
  test('it leads to DONE, with its result', async () => {
    const run = await given({
      says: [complete({ summary: ' all good ', artifacts: ['a', ' a ', 'b'], nextSteps: 'rest' })],
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    const [completion] = await run.of('completion')
    expect(completion?.body).toEqual({
      summary: 'all good',
      artifacts: ['a', 'b'],
      nextSteps: 'rest',
      unmetGates: [],
      unreadInput: 0,
    })
  })

  test('no history says that a run has ended well without it', async () => {
    const run = await given({ says: [calls(call('look')), completes()], tools: [look()] })
    await run.drive()
    const events = await run.events()
    const ending = events.findIndex(({ type }) => type === 'completion')
    const turns = events.flatMap(({ type }, i) => (type === 'turn_end' ? [i] : []))
    expect(fold(null, events.slice(0, ending + 1))?.machine.status).toBe('DONE')
    const before = fold(null, events.slice(0, turns[0]! + 1))
    expect(() => evolveAgent(before, events[ending]!)).toThrow('no call that completes the run has succeeded')
  })

  test('it is offered whatever the role, the phase and the policy say', async () => {
    const role = { ...CODER_SOP, phases: [{ name: 'think', allowedTools: [] }], qualityGates: [] }
    const policy = { allowedTools: ['read_file'], deniedTools: ['*', 'ask_user'] }
    const run = await given({ says: [completes()], spec: { role, policy } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.offered(0)).toEqual(['complete_task', 'advance_phase', 'set_context'])
  })

  test('a policy that denies it by name is refused at start', async () => {
    await expect(
      given({ says: [completes()], spec: { policy: { deniedTools: ['complete_task'] } } }),
    ).rejects.toMatchObject({
      code: 'SPEC_REFUSED',
    })
  })
})

describe('5.1.2 the completion passes schema validation', () => {
  test.each([
    ['a blank summary', { summary: ' \n' }, 'summary'],
    ['no summary', {}, 'summary'],
    ['another key', { summary: 's', result: 1 }, 'result'],
    ['a blank artifact', { summary: 's', artifacts: [' '] }, 'artifacts'],
    ['artifacts that are no list', { summary: 's', artifacts: 'a' }, 'artifacts'],
    ['blank next steps', { summary: 's', nextSteps: '' }, 'nextSteps'],
  ])('%s is INVALID_ARGUMENTS, and the model may correct it', async (_, args, path) => {
    const run = await given({ says: [complete(args), completes()] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['complete_task: INVALID_ARGUMENTS', 'complete_task: ok'])
    expect(await run.message()).toContain(path)
    expect(run.seen(1).at(-1)).toMatchObject({
      role: 'tool',
      isError: true,
      content: expect.stringContaining('INVALID_ARGUMENTS'),
    })
  })
})

describe('5.1.3 complete_task is called alone', () => {
  test.each(['interactive', 'batch'])('beside another call nothing of that turn runs (%s)', async (mode) => {
    const other = look()
    const run = await given({
      says: [calls(call('look'), call('complete_task', { summary: 's' })), completes()],
      tools: [other],
      spec: { policy: { mode } },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(other.ran).toEqual([])
    expect(await run.ends()).toEqual([
      'look: COMPLETION_NOT_ALONE',
      'complete_task: COMPLETION_NOT_ALONE',
      'complete_task: ok',
    ])
  })

  test('twice in a turn is not alone', async () => {
    const twice = calls(call('complete_task', { summary: 'a' }, 'x'), call('complete_task', { summary: 'b' }, 'y'))
    const run = await given({ says: [twice, completes()] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.ends()).slice(0, 2)).toEqual([
      'complete_task: COMPLETION_NOT_ALONE',
      'complete_task: COMPLETION_NOT_ALONE',
    ])
  })
})

describe('5.1.4 stopping without complete_task is ERROR', () => {
  test('a turn with text only; the text names the completion tool', async () => {
    const run = await given({ says: [says('I am done.')] })
    const end = { end: 'error', code: 'NO_COMPLETION', error: expect.stringContaining('complete_task') }
    expect(await run.drive()).toMatchObject(end)
    expect((await run.of('error'))[0]?.body).toMatchObject({ recoverable: false, partialOutput: 'I am done.' })
  })

  const thinker = { ...CODER_SOP, phases: [{ name: 'think', allowedTools: [] }], qualityGates: [] }

  test('in a phase without tools one text-only turn is more work, with a reminder', async () => {
    const run = await given({ says: [says('thinking'), completes()], spec: { role: thinker } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.seen(1).at(-1)).toMatchObject({ role: 'system', content: expect.stringContaining('complete_task') })
  })

  test('two in a row are ERROR; a call between them makes it one again', async () => {
    const two = await given({ says: [says('one'), says('two')], spec: { role: thinker } })
    expect(await two.drive()).toMatchObject({ code: 'NO_COMPLETION' })
    const set = calls(call('set_context', { key: 'k', value: 1 }))
    const between = await given({ says: [says('one'), set, says('two'), completes()], spec: { role: thinker } })
    expect(await between.drive()).toEqual({ end: 'done' })
  })

  test('an answer that was cut off or paused goes on, a refusal ends the run', async () => {
    const cut = { content: [{ type: 'text', text: 'half a' }], stopReason: 'max_tokens' } as const
    const run = await given({ says: [cut, { content: [], stopReason: 'pause_turn' }, completes()] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.seen(1).at(-1)).toMatchObject({ role: 'system', content: expect.stringContaining('cut off') })
    const refused = await given({ says: [{ content: [], stopReason: 'refusal' }] })
    expect(await refused.drive()).toMatchObject({ end: 'error', code: 'MODEL_REFUSED' })
  })

  test('calls of an answer that was cut off do not run, and are no failed calls', async () => {
    const looked = look()
    const cut = { ...calls(call('look', { a: 1 })), stopReason: 'max_tokens' } as const
    const run = await given({ says: [cut, calls(call('look', { a: 1 })), completes()], tools: [looked] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['look: INVALID_ARGUMENTS', 'look: ok', 'complete_task: ok'])
    expect(looked.ran).toHaveLength(1)
  })
})

describe('talking to a run', () => {
  test('complete_task while input is unread is CONFLICT, and the input is shown next', async () => {
    const run = await given({
      says: [
        async () => {
          await run.say({ kind: 'input', text: 'wait, one more' })
          return completes()
        },
        completes(),
      ],
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['complete_task: CONFLICT', 'complete_task: ok'])
    expect(run.seen(1).at(-1)).toEqual({ role: 'user', content: 'wait, one more' })
  })

  test('a question that finds input unread does not wait', async () => {
    const run = await given({
      says: [
        async () => {
          await run.say({ kind: 'input', text: 'by the way' })
          return calls(call('ask_user', { question: 'Which?' }))
        },
        completes(),
      ],
    })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('a finished run refuses input, cancel, pause and decisions with 409', async () => {
    const run = await given({ says: [completes()] })
    await run.drive()
    for (const command of [
      { kind: 'input', text: 'more' },
      { kind: 'cancel', deadlineMs: 1 },
      { kind: 'pause' },
      { kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' },
    ] as const)
      await expect(run.say(command)).rejects.toMatchObject({ code: 'RUN_FINISHED' })
  })

  test('a repeated request is recorded once', async () => {
    const run = await given({ says: [completes()] })
    const first = await run.say({ kind: 'input', text: 'once' }, 'key1')
    const again = { ...first, recorded: false }
    expect(await run.say({ kind: 'input', text: 'once' }, 'key1')).toEqual(again)
    expect(
      await run.elsewhere().execute(run.runId, { kind: 'input', text: 'once' }, { by: USER, key: 'key1' }),
    ).toEqual(again)
    expect(await run.of('user_input')).toHaveLength(2)
  })
})

describe('violations', () => {
  const bad = [calls(call('nothing_of_the_kind')), calls(call('look'), call('look')), calls(call('denied'))]

  test('five turns in a row with one end the run', async () => {
    const run = await given({
      says: [bad[0]!, bad[1]!, bad[2]!, bad[0]!, bad[1]!, completes()],
      tools: [look(), tool('denied')],
      spec: { policy: { deniedTools: ['denied'] } },
    })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'TOO_MANY_VIOLATIONS' })
    expect(run.requests).toHaveLength(5)
  })

  test('a turn without one breaks the row, also a turn without calls', async () => {
    const cut = { content: [], stopReason: 'max_tokens' } as const
    const run = await given({
      says: [
        bad[0]!,
        bad[0]!,
        bad[0]!,
        bad[0]!,
        cut,
        bad[0]!,
        bad[0]!,
        bad[0]!,
        bad[0]!,
        calls(call('look')),
        bad[0]!,
        completes(),
      ],
      tools: [look()],
    })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('malformed arguments and failing tools are none', async () => {
    const run = await given({
      says: [...Array(6).fill(calls(call('look', { wrong: 1 }))), completes()],
      tools: [tool('look', { parameters: { type: 'object', additionalProperties: false } })],
    })
    expect(await run.drive()).toEqual({ end: 'done' })
  })
})

describe('named artifacts', () => {
  test('what does not exist is kept as claimed', async () => {
    const run = await given({ says: [complete({ summary: 's', artifacts: ['gone.txt'] })] })
    await run.drive()
    const [registered] = await run.of('artifact_registered')
    expect(registered?.body.artifact).toEqual({
      id: `${run.call(1)}.a0`,
      type: 'file',
      path: 'gone.txt',
      claimed: true,
    })
  })
})
