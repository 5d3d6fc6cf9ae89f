import { describe, expect, test } from 'vitest'
import { digestOf } from '../../domain/agent/state/digest.ts'
import { unsalted } from '../../domain/log/seal.ts'
import { call, calls, completes } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const batch = { policy: { mode: 'batch' } }

describe('5.5.1, 5.5.2 a checkpoint after every tool result and at every turn boundary', () => {
  test('steps count from 1, each result and each turn_end makes one, with its digest', async () => {
    const three = calls(call('look', { n: 1 }, 'a'), call('look', { n: 2 }, 'b'), call('no_such', {}, 'c'))
    const run = await given({ says: [three, completes()], tools: [tool('look')], spec: batch })
    await run.drive()
    const steps: [number, string][] = []
    for await (const page of run.log.read(`agent-${run.runId}`)) {
      for (const { header, body } of page) {
        if (header.type !== 'tool_call_end' && header.type !== 'turn_end') continue
        expect(header.digest, header.type).toBeDefined()
        steps.push([(JSON.parse(new TextDecoder().decode(unsalted(body!))) as { step: number }).step, header.type])
      }
    }
    const ends = ['tool_call_end', 'tool_call_end', 'tool_call_end', 'turn_end', 'tool_call_end', 'turn_end']
    expect(steps).toEqual(ends.map((type, i) => [i + 1, type]))
  })

  test('it exists when the append is acknowledged: a second process finds it before the driver goes on', async () => {
    let other: Awaited<ReturnType<typeof given>>['runtime'] | undefined
    const found: number[] = []
    const crashPoint = async (name: string) => {
      if (name !== 'after_append' || other === undefined) return
      found.push((await other.at(run.runId, null)).state.step)
    }
    const run = await given({ says: [calls(call('look')), completes()], tools: [tool('look')], ports: { crashPoint } })
    other = run.elsewhere({ crashPoint: () => undefined })
    await run.drive()
    expect([...new Set(found)]).toEqual([0, 2, 4])
    await expect(other.at(run.runId, { step: 99 })).rejects.toMatchObject({ code: 'POINT_UNKNOWN' })
  })
})

describe('5.5.3 it holds pending and completed calls', () => {
  test('at the step of the first result the second is pending', async () => {
    const slow = tool('look', {}, async (args) => run.clock.sleep(args.ms as number))
    const run = await given({
      says: [calls(call('look', { ms: 10 }, 'a'), call('look', { ms: 500 }, 'b')), completes()],
      tools: [slow],
      spec: batch,
    })
    await run.drive()
    const { state, messages } = await run.runtime.at(run.runId, { step: 1 })
    const calls_ = state.machine.status === 'TOOL_WAIT' ? state.machine.calls : []
    expect(calls_.map(({ id, stage }) => [id, stage.at])).toEqual([
      [run.call(1, 0), 'ended'],
      [run.call(1, 1), 'running'],
    ])
    // Neither result has reached the messages before the turn ends.
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(state.spent).toMatchObject({ input: 10, output: 5 })
  })
})

describe('5.5.4 going on from a checkpoint is deterministic', () => {
  test('every process folds the same state, and shows the same messages', async () => {
    const run = await given({
      says: [calls(call('look', { b: 1, a: 2 })), completes()],
      tools: [tool('look', {}, (args) => args)],
    })
    await run.drive()
    for (let step = 1; step <= 4; step++) {
      const [one, other] = [await run.runtime.at(run.runId, { step }), await run.elsewhere().at(run.runId, { step })]
      expect(JSON.stringify(other)).toBe(JSON.stringify(one))
      expect(digestOf(other.state)).toBe(digestOf(one.state))
    }
    expect(JSON.stringify((await run.runtime.at(run.runId, { turn: 1 })).messages)).toBe(JSON.stringify(run.seen(1)))
  })

  test('a fork starts from its step, leaves what was unfinished, and can be proved', async () => {
    const looks = calls(call('look', { n: 1 }, 'a'), call('look', { n: 2 }, 'b'))
    const run = await given({
      says: [looks, completes(), completes()],
      tools: [tool('look')],
      spec: { policy: { mode: 'batch', maxParallel: 1 } },
    })
    await run.drive()
    const { runId } = await run.runtime.fork(run.runId, { step: 1 }, {}, { by: { kind: 'user', id: 'u' } })
    const { state, messages } = await run.runtime.at(runId, null)
    expect(state).toMatchObject({ agentId: runId, step: 1, turn: 1, driver: null })
    expect(messages.slice(-2)).toMatchObject([
      { isError: false },
      { isError: true, content: expect.stringContaining('CANCELLED') },
    ])
    expect(await run.runtime.drive(runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
    expect((await run.runtime.verify(runId)).problems).toEqual([])
    expect((await run.runtime.at(runId, null)).state.turn).toBe(2)
  })
})

test('context variables are written by set_context, in the log', async () => {
  const run = await given({ says: [calls(call('set_context', { key: ' plan ', value: { a: [1] } })), completes()] })
  await run.drive()
  const [answer] = await run.of('model_call_end')
  expect((await run.of('context_set'))[0]).toMatchObject({
    toolCallId: run.call(1),
    body: { key: 'plan', argumentsRef: { revision: answer!.revision, block: 0 } },
  })
  expect(answer!.body.content[0]).toMatchObject({ input: { value: { a: [1] } } })
})
