import { expect, test } from 'vitest'
import { ToolError } from '../../domain/calls/errors.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { type Given, given, tool } from '../support/story.ts'

/** A run whose driver can be drained and aborted; `resume` goes on in another process. */
async function drained(story: Given) {
  const [drain, abort] = [new AbortController(), new AbortController()]
  const run = await given(story)
  return {
    ...run,
    drain: () => drain.abort(new Error('drained')),
    abort: () => abort.abort(new Error('aborted')),
    drive: () => run.runtime.drive(run.runId, { signal: abort.signal, drain: drain.signal }),
    resume: () => run.elsewhere().drive(run.runId, { signal: new AbortController().signal }),
  }
}

const once = () => ({ begun: Promise.withResolvers<void>(), may: Promise.withResolvers<void>() })

test('what is at work ends and is recorded; nothing new begins; another driver goes on without a doubt', async () => {
  const { begun, may } = once()
  const send = tool('send', { effect: 'irreversible' }, async () => {
    begun.resolve()
    await may.promise
    return 'sent'
  })
  const run = await drained({ says: [calls(call('send')), completes()], tools: [send] })
  const driving = run.drive()
  await begun.promise
  run.drain()
  may.resolve()
  expect(await driving).toEqual({ end: 'interrupted' })
  expect((await run.types()).slice(-2)).toEqual(['tool_call_start', 'tool_call_end'])
  expect(run.requests).toHaveLength(1)
  expect(await run.resume()).toEqual({ end: 'done' })
  expect([send.ran.length, await run.of('tool_call_unknown')]).toEqual([1, []])
})

test('the answer of a model that was asked is kept; the calls it wants are left to the next driver', async () => {
  const { begun, may } = once()
  const send = tool('send', { effect: 'irreversible' })
  const run = await drained({
    says: [
      async () => {
        begun.resolve()
        await may.promise
        return calls(call('send'))
      },
      completes(),
    ],
    tools: [send],
  })
  const driving = run.drive()
  await begun.promise
  run.drain()
  may.resolve()
  expect(await driving).toEqual({ end: 'interrupted' })
  expect([(await run.types()).at(-1), send.ran.length]).toEqual(['model_call_end', 0])
  expect(await run.resume()).toEqual({ end: 'done' })
  expect([send.ran.length, await run.of('model_attempt_lost')]).toEqual([1, []])
})

test('an intent that is in the log is carried out, also where its effect had not begun', async () => {
  const send = tool('send', { effect: 'irreversible' })
  let intended = () => {}
  const run = await drained({
    says: [calls(call('send')), completes()],
    tools: [send],
    ports: { crashPoint: (name) => (name === 'before_tool' ? intended() : undefined) },
  })
  intended = run.drain
  expect(await run.drive()).toEqual({ end: 'interrupted' })
  expect([send.ran.length, (await run.types()).at(-1)]).toEqual([1, 'tool_call_end'])
})

test('an attempt that is to be made again is waited for where the next driver could only doubt', async () => {
  for (const [effect, ran] of [
    ['irreversible', 2],
    ['idempotent', 1],
  ] as const) {
    const send = tool('send', { effect }, () => {
      if (send.ran.length > 1) return 'sent'
      throw new ToolError('RATE_LIMITED', 'slow down', { transient: true, beforeEffect: true })
    })
    let recorded = () => {}
    const run = await drained({
      says: [calls(call('send')), completes()],
      tools: [send],
      ports: { crashPoint: (name) => (name === 'after_append' && send.ran.length === 1 ? recorded() : undefined) },
    })
    recorded = run.drain
    expect(await run.drive()).toEqual({ end: 'interrupted' })
    expect((await run.of('tool_call_retry')).length).toBe(1)
    expect([effect, send.ran.length, (await run.of('tool_call_unknown')).length]).toEqual([effect, ran, 0])
    expect(await run.resume()).toEqual({ end: 'done' })
  }
})

test.each([
  ['what a tool was told', (reason: unknown) => reason],
  ['an error of the tool', () => new Error('aborted')],
])('an abort breaks off what a drain waits for, although no person has cancelled it: %s', async (_, thrown) => {
  const { begun } = once()
  let stuckOnce = false
  const stuck = tool('stuck', { effect: 'irreversible' }, (_, { signal }) => {
    if (stuckOnce) return 'ok'
    stuckOnce = true
    begun.resolve()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(thrown(signal.reason))))
  })
  const run = await drained({ says: [calls(call('stuck')), calls(call('stuck')), completes()], tools: [stuck] })
  const driving = run.drive()
  await begun.promise
  run.drain()
  run.abort()
  expect(await driving).toEqual({ end: 'interrupted' })
  // It did not fail by itself: it may be tried again.
  expect(await run.resume()).toEqual({ end: 'done' })
  expect(await run.ends()).toEqual(['stuck: INTERRUPTED', 'stuck: ok', 'complete_task: ok'])
})

test('who is drained before it begins claims nothing; a run that waits says so', async () => {
  const run = await drained({ says: [completes()], task: null })
  expect(await run.drive()).toMatchObject({ end: 'waiting', for: 'input' })
  run.drain()
  expect(await run.drive()).toMatchObject({ end: 'waiting', for: 'input' })
  await run.runtime.execute(run.runId, { kind: 'input', text: 'go' }, { by: USER })
  expect(await run.drive()).toEqual({ end: 'interrupted' })
  expect(await run.of('driver_claimed')).toHaveLength(1)
})
