import { describe, expect, test } from 'vitest'
import { EventViews } from '../../api/operations/events/view.ts'
import { call, calls, completes, says, USER } from '../support/harness.ts'
import { given } from '../support/story.ts'

const ENDS: ReadonlySet<string> = new Set(['completion', 'recovery', 'error'])

describe('the end of a run bears the turn to which it belongs', () => {
  const limits = { maxTurns: 3, wallClockMs: null }
  const recovery = { graceTurns: 2 }
  const look = calls(call('nothing'))

  test.each([
    ['a completion', { says: [look, completes()] }, ['completion 2']],
    ['a run without completion', { says: [look, says('I stop.')] }, ['error 2']],
    [
      'a recovery that succeeds',
      { says: [completes()], spec: { limits, recovery } },
      ['recovery 1', 'recovery 1', 'completion 1'],
    ],
    ['a recovery that fails', { says: [look], spec: { limits, recovery } }, ['recovery 1', 'recovery 1', 'error 1']],
    ['a failed model attempt', { says: [new Error('broken')] }, ['error 1', 'error 1']],
  ])('%s', async (_, story, expected) => {
    const run = await given(story as Parameters<typeof given>[0])
    await run.drive()
    const ends = (await run.events()).filter(({ type }) => ENDS.has(type))
    expect(ends.map(({ type, turn }) => `${type} ${turn}`)).toEqual(expected)
    const count = async (type: 'turn_start' | 'turn_end') => (await run.of(type)).map(({ turn }) => turn)
    expect(await count('turn_end')).toEqual(await count('turn_start'))
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('a cancel of a run that waits for input belongs to no turn, one of a turn to that', async () => {
    const idle = await given({ says: [calls(call('ask_user', { question: 'Which?' }))] })
    await idle.drive()
    await idle.say({ kind: 'cancel', deadlineMs: 1_000 })
    const busy = await given({ says: [look, calls(call('write_file', { path: 'a' }))] })
    await busy.say({ kind: 'cancel', deadlineMs: 1_000 })
    const turns = async (run: typeof idle) => (await run.of('error')).map(({ turn }) => turn)
    expect(await turns(idle)).toEqual([0])
    expect(await turns(busy)).toEqual([0])
  })
})

describe('a tool that does not exist', () => {
  const bad = `launch\u202e_rocket\u0007 ${'x'.repeat(100)}`

  const views = async (run: Awaited<ReturnType<typeof given>>) => {
    const reader = new EventViews(run.log, run.ports.blobs)
    const shown: string[] = []
    for await (const page of run.log.read(`agent-${run.runId}`))
      for (const event of page) {
        const { type, payload } = await reader.view(event)
        if (type === 'tool_call_start' || type === 'tool_call_end') shown.push(`${type} ${String(payload?.toolName)}`)
      }
    return shown
  }

  test('is recorded and shown by the name that the model wrote, short and in characters that can be seen', async () => {
    const run = await given({ says: [calls(call('launch_rocket')), calls(call(bad)), completes()] })
    await run.drive()
    const [first, second] = (await run.of('model_call_end')).map(({ body }) => body.calls[0])
    expect(first).toMatchObject({ toolName: 'unknown', askedName: 'launch_rocket' })
    expect(second?.askedName).toMatch(/^launch _rocket x+… \(\d+ characters\)$/)
    expect(await views(run)).toEqual([
      'tool_call_start launch_rocket',
      'tool_call_end launch_rocket',
      `tool_call_start ${second?.askedName}`,
      `tool_call_end ${second?.askedName}`,
      'tool_call_start complete_task',
      'tool_call_end complete_task',
    ])
  })

  test('loses its name where it is erased, and the digests hold', async () => {
    const run = await given({ says: [calls(call('launch_rocket')), completes()] })
    await run.drive()
    await run.runtime.execute(run.runId, { kind: 'erase', all: true, reason: 'asked for' }, { by: USER })
    expect(await views(run)).toEqual(
      expect.arrayContaining(['tool_call_start unknown', 'tool_call_start complete_task']),
    )
    const stored: string[] = []
    for await (const page of run.log.read(`agent-${run.runId}`))
      for (const event of page) stored.push(Buffer.from(event.body ?? []).toString())
    expect(stored.join('\n')).not.toContain('launch_rocket')
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })
})
