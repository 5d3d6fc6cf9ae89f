import { describe, expect, test } from 'vitest'
import { completes, testModel, USER } from '../../support/harness.ts'
import { models, price, reusing, sets, signal, writes } from '../../support/reusing.ts'
import { given, tool } from '../../support/story.ts'

describe('5.9 the first difference ends it for good', () => {
  test('another model, from the first request on, and what differs is recorded', async () => {
    const known = [...models.known, { ...testModel, id: 'other', price }]
    const run = await given({
      says: [sets, writes, completes()],
      tools: [tool('write')],
      spec: { models: { ...models, known } },
    })
    await run.drive()
    const asked = run.requests.length
    const fork = await reusing(run, { turn: 1 }, { model: 'other' })
    expect(await fork.left()).toMatchObject([{ differs: ['model'], recorded: { stream: `agent-${run.runId}` } }])
    expect(run.requests.length).toBeGreaterThan(asked)
    expect((await fork.of('model_call_end')).every(({ body }) => body.reused === undefined)).toBe(true)
    expect((await run.runtime.verify(fork.runId)).problems).toEqual([])
  })

  test('input that the record does not have: the requests before it are answered from the record', async () => {
    const run = await given({ says: [sets, writes, sets, completes(), completes('new')], tools: [tool('write')] })
    await run.drive()
    const { runId } = await run.runtime.fork(run.runId, { turn: 1 }, { reuse: true }, { by: USER })
    await run.runtime.execute(runId, { kind: 'pause' }, { by: USER })
    await run.runtime.execute(runId, { kind: 'step' }, { by: USER })
    await run.runtime.drive(runId, { signal })
    await run.runtime.execute(runId, { kind: 'input', text: 'and now?' }, { by: USER })
    await run.runtime.execute(runId, { kind: 'resume' }, { by: USER })
    await run.runtime.drive(runId, { signal })
    const { state } = await run.runtime.at(runId, null)
    expect(state.reuse).toMatchObject({ models: 1, tools: 1 })
    const events = await run.runtime.at(runId, null)
    expect(events.state.reuse?.left).not.toBeNull()
  })

  test('the end of the record: the run goes on by itself, and calls need their approvals again', async () => {
    const spec = { policy: { requiresApproval: ['write'] } }
    const run = await given({ says: [sets, writes, completes()], tools: [tool('write')], spec })
    expect(await run.drive()).toMatchObject({ end: 'waiting', for: 'approval' })
    const asked = run.requests.length
    const fork = await reusing(run, { turn: 1 })
    expect(fork.end).toMatchObject({ end: 'waiting', for: 'approval' })
    expect(run.requests).toHaveLength(asked)
    expect(await fork.left()).toMatchObject([{ reason: 'the record has no outcome of this call that could be taken' }])
    expect((await fork.of('reuse_ended')).map(({ toolCallId }) => toolCallId)).toEqual([`${fork.runId}.t2.c0`])
  })

  test('what was cancelled in the record has no outcome there', async () => {
    let cancel = async (): Promise<unknown> => undefined
    const slow = tool('write', {}, () => cancel())
    const run = await given({ says: [sets, writes, completes()], tools: [slow] })
    cancel = () => run.say({ kind: 'cancel', deadlineMs: 10 })
    await run.drive()
    cancel = async () => 'ok'
    const fork = await reusing(run, { turn: 1 })
    expect(fork.end).toEqual({ end: 'done' })
    expect(slow.ran).toHaveLength(2)
    expect((await fork.state()).reuse).toMatchObject({ models: 1, tools: 0 })
  })

  test('what was erased', async () => {
    const run = await given({ says: [sets, writes, completes()], tools: [tool('write')] })
    await run.drive()
    const { runId } = await run.runtime.fork(run.runId, { turn: 1 }, { reuse: true }, { by: USER })
    const [, answer] = await run.of('model_call_end')
    await run.say({ kind: 'erase', revision: answer!.revision, reason: 'asked' })
    await run.runtime.drive(runId, { signal })
    const { state } = await run.runtime.at(runId, null)
    expect(state.reuse).toMatchObject({ models: 0 })
    expect(state.reuse?.left).not.toBeNull()
  })
})
