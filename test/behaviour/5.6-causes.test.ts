import { expect, test } from 'vitest'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import type { Request } from '../../domain/agent/runtime/types.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

// What stands behind an event: the one it follows from, and the outermost request that set the agent going.

const about = ({ type, toolCallId }: AgentEvent) =>
  toolCallId === undefined ? type : `${type} ${toolCallId.slice(-2)}`

/** Each event that names its cause, with what that is. */
const causes = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => {
    if (event.causationId === undefined) return []
    const [stream, revision] = event.causationId.split('@')
    expect(stream).toBe(`agent-${event.agentId}`)
    return [`${about(event)} <- ${about(events[Number(revision)]!)}`]
  })

const ask = (id: string): Request => ({ by: USER, correlationId: id })

test('an outcome names its intent, a decision what was asked, an intent the decision', async () => {
  const send = tool('send', { effect: 'irreversible' })
  const look = tool('look')
  const says = [calls(call('send'), call('look')), completes()]
  const run = await given({
    says,
    tools: [send, look],
    spec: { policy: { mode: 'batch', requiresApproval: ['send'] } },
  })
  await run.drive()
  await run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
  await run.drive()
  expect(causes(await run.events())).toEqual([
    'turn_start <- user_input',
    'model_call_end <- model_call_start',
    'approval_decided c0 <- approval_requested c0',
    'tool_call_intent c0 <- approval_decided c0',
    'tool_call_end c0 <- tool_call_intent c0',
    'tool_call_start c1 <- model_call_end',
    'tool_call_end c1 <- tool_call_start c1',
    'model_call_end <- model_call_start',
    'tool_call_end c0 <- tool_call_start c0',
  ])
})

test('a further attempt names the failure before it, of calls and of models', async () => {
  const flaky = tool('flaky', { effect: 'idempotent' }, (_, { attempt }) => {
    if (attempt === 1) throw Object.assign(new Error('busy'), { name: 'ToolError', code: 'TIMEOUT', transient: true })
  })
  const busy = Object.assign(new Error('busy'), { name: 'ModelError', code: 'OVERLOADED', transient: true })
  const run = await given({ says: [busy, calls(call('flaky')), completes()], tools: [flaky] })
  await run.drive()
  expect(causes(await run.events()).slice(1, 7)).toEqual([
    'error <- model_call_start',
    'model_routed <- error',
    'model_call_end <- model_call_start',
    'tool_call_retry c0 <- tool_call_start c0',
    'tool_call_end c0 <- tool_call_retry c0',
    'model_call_end <- model_call_start',
  ])
})

test('what begins or ends by itself names what made it: an input, a person’s word, a cancel', async () => {
  const asks = calls(call('ask_user', { question: 'And now?' }))
  const send = tool('send', { effect: 'irreversible' }, () => new Promise(() => undefined))
  const run = await given({ says: [asks, calls(call('send')), completes()], tools: [send] })
  await run.drive()
  await run.say({ kind: 'input', text: 'go on' })
  // What changes nothing is no cause.
  await run.say({ kind: 'resume' }, 'a key')
  expect(await run.of('request_noted')).toHaveLength(1)
  expect(await run.drive()).toMatchObject({ for: 'doubt' })
  await run.say({ kind: 'pause' })
  await run.say({ kind: 'resolve_doubt', toolCallId: run.call(2), decision: 'abandon' })
  await run.drive()
  await run.say({ kind: 'resume' })
  await run.drive()
  expect(causes(await run.events()).filter((cause) => /^turn|^comp/.test(cause))).toEqual([
    'turn_start <- user_input',
    'turn_start <- user_input',
    'turn_end <- tool_call_end c0',
    'turn_start <- resumed',
  ])
})

test('the end of a cancelled run names the cancel', async () => {
  const asked = Promise.withResolvers<void>()
  const run = await given({
    says: [
      async (_) => {
        asked.resolve()
        return new Promise(() => undefined)
      },
    ],
  })
  void run.drive()
  await asked.promise
  await run.say({ kind: 'pause' })
  const log = await run.events()
  expect(log.at(-1)?.type).toBe('paused')
  await run.say({ kind: 'cancel', deadlineMs: 10 })
  const types = (await run.events()).slice(log.length).map(({ type }) => type)
  // In one append order says it.
  expect(types).toEqual(['cancel_requested', 'model_attempt_lost', 'turn_end', 'error'])
})

test('every event belongs to the request that set it going: an input from the turn on that reads it', async () => {
  const look = tool('look', {}, async () => {
    await run.runtime.execute(run.runId, { kind: 'input', text: 'and that' }, ask('second'))
    await run.runtime.execute(run.runId, { kind: 'pause' }, ask('a break'))
  })
  const run = await given({ says: [calls(call('look')), completes()], tools: [look], task: null })
  await run.runtime.execute(run.runId, { kind: 'input', text: 'this' }, ask('first'))
  await run.drive()
  await run.say({ kind: 'resume' }, 'third')
  await run.drive()
  const events = await run.events()
  const [started, , claimed] = events
  const said = events.find(({ type }) => type === 'resumed')
  const of = (id: string) => events.filter((e) => (e.correlationId ?? e.commandId) === id).map(({ type }) => type)
  expect(started!.correlationId).toBeUndefined()
  expect(claimed!.correlationId).toBe(started!.commandId)
  expect(of('first')).toEqual([
    ...['user_input', 'turn_start', 'model_routed', 'prompt_set', 'tools_changed', 'model_call_start'],
    ...['model_call_end', 'tool_call_start', 'tool_call_end', 'turn_end'],
  ])
  expect(of('a break')).toEqual(['paused'])
  expect(said!.correlationId).toBeUndefined()
  expect(of(said!.commandId)).toEqual(['resumed', 'driver_claimed'])
  expect(of('second')[1]).toBe('turn_start')
  expect(of('second').at(-1)).toBe('completion')
  expect((await run.runtime.verify(run.runId)).ok).toBe(true)
})

test('a trace context is recorded where it is one, and left out where it is none', async () => {
  const run = await given({ says: [completes()] })
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await run.runtime.execute(run.runId, { kind: 'input', text: 'a' }, { by: USER, trace })
  await run.runtime.execute(run.runId, { kind: 'input', text: 'b' }, { by: USER, trace: 'my own words' })
  const traces: unknown[] = []
  for await (const page of run.log.read(`agent-${run.runId}`, { from: 2 }))
    traces.push(...page.map(({ header }) => header.trace))
  expect(traces).toEqual([trace, undefined])
})

test('a correlation id is a short name: headers keep it for ever', async () => {
  const run = await given({ says: [completes()] })
  const refused = {
    code: 'CORRELATION_ID_REFUSED',
    message: expect.stringContaining('1 to 128 characters'),
  }
  for (const id of ['', 'x'.repeat(129), 'a\nb', 'a\u0085b', 'a\u007f']) {
    const asked = run.runtime.execute(run.runId, { kind: 'input', text: 'a' }, ask(id))
    await expect(asked).rejects.toMatchObject(refused)
    await expect(run.runtime.fork(run.runId, null, {}, ask(id))).rejects.toMatchObject(refused)
  }
  expect(await run.of('user_input')).toHaveLength(1)
  const longest = 'ü'.repeat(128)
  await run.runtime.execute(run.runId, { kind: 'input', text: 'a' }, ask(longest))
  expect((await run.of('user_input'))[1]?.correlationId).toBe(longest)
})
