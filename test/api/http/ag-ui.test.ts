// @module-tag git

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BaseEvent, buildResumeArray, HttpAgent, type Interrupt, verifyEvents } from '@ag-ui/client'
import { EventSchemas, RunAgentInputSchema } from '@ag-ui/core/schemas'
import { from, lastValueFrom, toArray } from 'rxjs'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { answerInterrupts, questionsOf } from '../../../api/operations/ag-ui/interrupts.ts'
import { RunEvents } from '../../../api/operations/ag-ui/run-events.ts'
import type { AgUiEvent } from '../../../api/operations/ag-ui/schemas.ts'
import { lastPosition } from '../../../api/operations/ag-ui/stream.ts'
import type { EventView } from '../../../api/operations/events/schemas.ts'
import { bodyOf, eventsIn, openWorld, TOKEN } from '../support/http.ts'
import { giveSign } from '../support/script.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, model } = world

type Sent = AgUiEvent & { readonly [key: string]: unknown }

const user = (id: string, content: string) => ({ id, role: 'user', content })
const settings = (more: object = {}) => ({ keepup: { model, ...more } })

/** Reads the events of an answer, after the official verifier and schemas have accepted each of them. */
async function eventsOf(response: Response): Promise<Sent[]> {
  if (response.status !== 200) throw new Error(await response.text())
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const events = (await response.text()).split('\n\n').flatMap((part) => {
    return part.startsWith('data: ') ? [JSON.parse(part.slice('data: '.length)) as Sent] : []
  })
  return accepted(events)
}

async function accepted(events: readonly Sent[]): Promise<Sent[]> {
  for (const event of events) EventSchemas.parse(event)
  await lastValueFrom(from(events as unknown as BaseEvent[]).pipe(verifyEvents(), toArray()))
  return [...events]
}

let requests = 0
const run = async (threadId: string, messages: readonly object[], more: object = {}) => {
  const body = { threadId, runId: `request-${++requests}`, messages, tools: [], context: [], ...more }
  RunAgentInputSchema.parse(body)
  return ask('POST', '/v1/ag-ui', { body: { forwardedProps: settings(), ...body } })
}
const types = (events: readonly Sent[]) => events.map(({ type }) => type)
const last = (events: readonly Sent[]) => events.at(-1)!
const keepupRun = (events: readonly Sent[]) => (events[0]!.metadata as { keepup: { runId: string } }).keepup.runId
const textOf = (events: readonly Sent[]) => events.flatMap((e) => (e.type === 'TEXT_MESSAGE_CONTENT' ? [e.delta] : []))
const interruptsOf = (events: readonly Sent[]): Interrupt[] => {
  const { outcome } = last(events) as { outcome?: { type: string; interrupts?: Interrupt[] } }
  expect(outcome?.type).toBe('interrupt')
  return outcome!.interrupts!
}

describe('a request of AG-UI', () => {
  it('starts a run and streams its turns, texts and usage until it ends', async () => {
    const events = await eventsOf(await run('one', [user('m1', 'finish it')], { parentRunId: 'earlier' }))
    expect(events[0]).toMatchObject({ type: 'RUN_STARTED', threadId: 'one', parentRunId: 'earlier' })
    expect(types(events)).toEqual(expect.arrayContaining(['STATE_SNAPSHOT', 'STEP_STARTED', 'STEP_FINISHED']))
    expect(textOf(events).join('')).toContain('let me see')
    expect(textOf(events).at(-1)).toBe('finish it')
    expect(last(events)).toMatchObject({ type: 'RUN_FINISHED', threadId: 'one', outcome: { type: 'success' } })
    const { runs } = await bodyOf<{ runs: { runId: string; total: { inputTokens: number; outputTokens: number } }[] }>(
      await ask('GET', '/v1/runs'),
    )
    const { total } = runs.find(({ runId }) => runId === keepupRun(events))!
    const [usage] = last(events).usage as { inputTokens: number; outputTokens: number; provider: string }[]
    expect(usage).toMatchObject({
      inputTokens: total.inputTokens,
      outputTokens: total.outputTokens,
      provider: 'scripted',
    })
    const recorded = events.filter(({ type }) => type.startsWith('STEP_'))
    for (const { metadata } of recorded)
      expect(metadata).toMatchObject({ keepup: { runId: keepupRun(events), eventId: expect.any(String) } })
  })

  it('records a repeated message once, and streams the same messages again', async () => {
    const first = await eventsOf(await run('again', [user('m1', 'finish this')]))
    const second = await eventsOf(
      await run('again', [user('m1', 'finish this'), { id: 'x', role: 'assistant', content: 'le' }]),
    )
    expect(keepupRun(second)).toBe(keepupRun(first))
    expect(second.find(({ type }) => type === 'MESSAGES_SNAPSHOT')?.messages).toEqual([user('m1', 'finish this')])
    const ids = (events: Sent[]) => events.flatMap((e) => (e.type === 'TEXT_MESSAGE_START' ? [e.messageId] : []))
    expect(ids(second)).toEqual(ids(first))
    const third = await eventsOf(await run('again', [user('m1', 'finish this'), user('m2', 'finish that')]))
    expect(keepupRun(third)).not.toBe(keepupRun(first))
    const { state } = await bodyOf<{ state: { contextVariables: object } }>(
      await ask('GET', `/v1/runs/${keepupRun(third)}/state`),
    )
    expect(state.contextVariables).toMatchObject({ conversation: [{ role: 'user', text: 'finish this' }] })
  })

  it('interrupts for an approval, and resumes with the decision of the person', async () => {
    const workspace = world.workspace()
    const forwardedProps = settings({ workspace, tools: ['write_file'] })
    const events = await eventsOf(await run('write', [user('m1', 'write a file')], { forwardedProps }))
    const [interrupt] = interruptsOf(events)
    expect(interrupt).toMatchObject({ reason: 'tool_call', message: expect.stringContaining('hello.txt') })
    expect(events.find(({ type }) => type === 'TOOL_CALL_START')).toMatchObject({
      toolCallId: interrupt!.toolCallId,
      toolCallName: 'write_file',
    })
    const bad = await run('write', [user('m1', 'write a file')], {
      resume: [{ interruptId: interrupt!.id, status: 'resolved', payload: { decision: 'perhaps' } }],
    })
    expect([bad.status, await bodyOf(bad)]).toMatchObject([400, { code: 'INVALID_REQUEST' }])
    const resume = buildResumeArray([interrupt!], {
      [interrupt!.id]: { status: 'resolved', payload: { decision: 'approved' } },
    })
    const resumed = await eventsOf(await run('write', [user('m1', 'write a file')], { resume }))
    expect(keepupRun(resumed)).toBe(keepupRun(events))
    expect(resumed.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({ toolCallId: interrupt!.toolCallId })
    expect(textOf(resumed)).toContain('write approved')
    expect(last(resumed)).toMatchObject({ outcome: { type: 'success' } })
    const stale = await eventsOf(await run('write', [user('m1', 'write a file')], { resume }))
    expect(last(stale)).toMatchObject({ outcome: { type: 'success' } })
  })

  it('rejects a call whose interrupt is cancelled', async () => {
    const forwardedProps = settings({ workspace: world.workspace(), tools: ['write_file'] })
    const [interrupt] = interruptsOf(await eventsOf(await run('no', [user('m1', 'write a file')], { forwardedProps })))
    const resume = [{ interruptId: interrupt!.id, status: 'cancelled' }]
    const resumed = await eventsOf(await run('no', [user('m1', 'write a file')], { resume }))
    expect(textOf(resumed)).toContain('write rejected')
  })

  it('passes a further message, or the answer to a question, to the run that waits for it', async () => {
    const asked = await eventsOf(await run('ask', [user('m1', 'ask me')]))
    const [interrupt] = interruptsOf(asked)
    expect(interrupt).toMatchObject({ reason: 'input_required', message: 'Which?' })
    const resume = [{ interruptId: interrupt!.id, status: 'resolved', payload: { text: 'the second' } }]
    expect(textOf(await eventsOf(await run('ask', [user('m1', 'ask me')], { resume })))).toContain('the second')
    const other = await eventsOf(await run('ask too', [user('m1', 'ask me')]))
    interruptsOf(other)
    const messages = [user('m1', 'ask me'), user('m2', 'the first')]
    const told = await eventsOf(await run('ask too', messages))
    expect(textOf(told)).toContain('the first')
    const again = await eventsOf(await run('ask too', messages))
    expect([keepupRun(again), textOf(again).at(-1)]).toEqual([keepupRun(other), 'the first'])
    const { events } = await bodyOf<{ events: object[] }>(
      await ask('GET', `/v1/runs/${keepupRun(other)}/events?type=user_input`),
    )
    expect(events).toHaveLength(2)
  })

  it('ends with the error of the run, or as cancelled', async () => {
    const failed = await eventsOf(
      await run('fail', [user('m1', 'fail')], {
        forwardedProps: settings({ limits: { maxTurns: 1 }, recovery: { graceTurns: 0 } }),
      }),
    )
    expect(last(failed)).toMatchObject({ type: 'RUN_ERROR', code: expect.any(String), message: expect.any(String) })
    const stalled = run('stall', [user('m1', 'stall')])
    await expect
      .poll(async () => (await bodyOf<{ runs: object[] }>(await ask('GET', '/v1/runs?text=stall'))).runs.length)
      .toBe(1)
    const { runs } = await bodyOf<{ runs: { runId: string }[] }>(await ask('GET', '/v1/runs?text=stall'))
    await ask('POST', `/v1/runs/${runs[0]!.runId}/cancel`, { body: {} })
    expect(last(await eventsOf(await stalled))).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
  })

  it('interrupts for a pause, and continues the run whose id the thread has', async () => {
    const id = await world.started('finish later', { drive: false })
    await ask('POST', `/v1/runs/${id}/pause`, { body: {} })
    const [interrupt] = interruptsOf(await eventsOf(await run(id, [])))
    expect(interrupt!.reason).toBe('keepup:pause')
    const resume = [{ interruptId: interrupt!.id, status: 'resolved' }]
    expect(textOf(await eventsOf(await run(id, [], { resume }))).at(-1)).toBe('finish later')
  })

  it('lifts only the pause that it showed, however often the answer comes', async () => {
    const id = await world.started('finish later', { drive: false })
    const pausesOf = async () => {
      await ask('POST', `/v1/runs/${id}/pause`, { body: {} })
      return questionsOf(world.services, id, {})
    }
    const [first] = await pausesOf()
    const answer = [{ interruptId: first!.interrupt.id, status: 'resolved' as const }]
    await ask('POST', `/v1/runs/${id}/resume`, { body: { drive: false } })
    const [second] = await pausesOf()
    expect(second!.interrupt.id).not.toBe(first!.interrupt.id)
    await answerInterrupts(world.services, id, answer, {})
    const [still] = await questionsOf(world.services, id, {})
    expect(still!.interrupt.id).toBe(second!.interrupt.id)
  })

  it.each([
    ['write', 'a file', { decision: 'approved' }, 'approval_decided'],
    ['ask', 'me', { text: 'the second' }, 'user_input'],
  ])('records one of two answers that come at once to "%s"', async (word, rest, payload, type) => {
    const thread = `race ${word}`
    const forwardedProps = settings({ workspace: world.workspace(), tools: ['write_file'] })
    const messages = [user('m1', `${word} ${rest}`)]
    const asked = await eventsOf(await run(thread, messages, { forwardedProps }))
    const [{ id: interruptId }] = interruptsOf(asked) as [Interrupt]
    const runId = keepupRun(asked)
    const answers = [{ interruptId, status: 'resolved' as const, payload }]
    const other = word === 'ask' ? [{ ...answers[0]!, payload: { text: 'the first' } }] : answers
    await Promise.all([answers, other].map((one) => answerInterrupts(world.services, runId, one, {})))
    const { events } = await bodyOf<{ events: object[] }>(await ask('GET', `/v1/runs/${runId}/events?type=${type}`))
    expect(events).toHaveLength(word === 'ask' ? 2 : 1)
  })

  it('reads the log of an ended run up to its last event, and looks for few of the messages of a long thread', async () => {
    const first = user('m0', 'finish this')
    const runId = keepupRun(await eventsOf(await run('long', [first])))
    await world.driven('finish that')
    const { log } = world.services
    const own = (await eventsIn(world.services, runId)).at(-1)!.position
    expect(await lastPosition(world.services, runId)).toBe(own)
    expect(own).toBeLessThan((await log.headCursor()).position)
    const head = vi.spyOn(log, 'head')
    onTestFinished(() => head.mockRestore())
    const more = Array.from({ length: 500 }, (_, n) => user(`m${n + 1}`, 'and then'))
    const next = await eventsOf(await run('long', [first, ...more, user('last', 'finish the rest')]))
    expect(keepupRun(next)).not.toBe(runId)
    const sought = head.mock.calls.filter(([stream]) => stream.startsWith('agent-')).length
    expect(sought).toBeLessThan(300)
  })

  it('gives the state of the client to the run, and tells that tools of the client are not offered', async () => {
    const more = { state: { colour: 'blue' }, tools: [{ name: 'draw', description: 'd', parameters: {} }] }
    const context = [{ description: 'the place', value: 'Oslo' }]
    const events = await eventsOf(await run('state', [user('m1', 'finish')], { ...more, context }))
    expect(events.find(({ type }) => type === 'STATE_SNAPSHOT')?.snapshot).toEqual({ colour: 'blue', context })
    expect(events.find(({ name }) => name === 'keepup.tools_not_offered')?.value).toEqual(['draw'])
  })

  it.each([
    ['no message of a user', [], {}, 'message of the user is missing'],
    ['a picture', [{ id: 'm', role: 'user', content: [{ type: 'image' }] }], {}, 'takes text'],
    [
      'an answer without a run',
      [user('m1', 'x')],
      { resume: [{ interruptId: 'i', status: 'resolved' }] },
      'has no run',
    ],
    ['an unknown setting', [user('m1', 'x')], { forwardedProps: { keepup: { tusk: 1 } } }, 'unknown key "tusk"'],
    [
      'another agent',
      [user('m1', 'x')],
      { forwardedProps: { keepup: { agent: 'codex', workspace: '/' } } },
      "only keepup's own",
    ],
  ])('is refused before the stream for %s', async (name, messages, more, told) => {
    const body = { threadId: `refused ${name}`, runId: 'r', messages, ...more }
    const response = await ask('POST', '/v1/ag-ui', { body })
    const { detail } = await bodyOf<{ detail: string }>(response)
    expect([response.status, detail]).toEqual([400, expect.stringContaining(told)])
  })
})

it('shows agents below the root as subagents, each with its call and its end', async () => {
  const finish = (summary: string) => ({ calls: [{ tool: 'complete_task', arguments: { summary } }] })
  const delegate = (role: string, task: string) => ({ tool: 'delegate_to_agent', arguments: { role, task } })
  const advance = { calls: [{ tool: 'advance_phase', arguments: { summary: 'on' } }] }
  const calls = [delegate('researcher', 'research it'), delegate('reviewer', 'review it')]
  const parts = [
    { name: 'researcher', when: { firstInputContains: 'research it' }, turns: [finish('It is known.')] },
    { name: 'reviewer', when: { firstInputContains: 'review it' }, turns: [{ text: 'I stop here.' }] },
  ]
  const path = join(world.root, 'team.json')
  const artifacts = [{ type: 'diagram', title: 'All', content: 'a -> b' }]
  const drawn = { calls: [{ tool: 'advance_phase', arguments: { summary: 'drawn', artifacts } }] }
  writeFileSync(path, JSON.stringify({ script: 1, turns: [{ calls }, advance, drawn, finish('Led.')], parts }))
  const policy = { mode: 'batch', sandboxed: false }
  const asked = {
    model: `scripted:${path}`,
    role: 'architect',
    workspace: world.workspace(),
    policy,
    testCommand: ['true'],
  }
  const forwardedProps = { keepup: asked }
  const events = await eventsOf(await run('team', [user('m1', 'lead the team')], { forwardedProps }))
  const born = events.filter(({ type }) => type === 'SUBAGENT_STARTED')
  expect(born.map(({ name }) => name).sort()).toEqual(['Researcher', 'Reviewer'])
  const callIds = events.flatMap((e) => (e.type === 'TOOL_CALL_START' ? [e.toolCallId] : []))
  for (const { parentToolCallId } of born) expect(callIds).toContain(parentToolCallId)
  const ends = events.filter(({ type }) => type === 'SUBAGENT_FINISHED' || type === 'SUBAGENT_ERROR')
  // The id of an agent below the root names a thread, not a run.
  const below = await ask('POST', '/v1/ag-ui', {
    body: { threadId: born[0]!.subagentRunId, runId: 'r', messages: [] },
  })
  expect(await bodyOf(below)).toMatchObject({ detail: expect.stringContaining('message of the user is missing') })
  const endOf = (role: string) =>
    ends.filter((e) => e.subagentRunId === born.find(({ name }) => name === role)!.subagentRunId)
  expect(endOf('Researcher')).toMatchObject([{ type: 'SUBAGENT_FINISHED', outcome: { type: 'success' } }])
  expect(endOf('Reviewer')).toMatchObject([{ type: 'SUBAGENT_ERROR', code: expect.any(String) }])
  expect(last(events)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
})

it('goes on with the run when its reader leaves', async () => {
  const workspace = world.workspace()
  const forwardedProps = settings({ workspace, tools: ['list_dir'] })
  const response = await run('left', [user('m1', 'wait')], { forwardedProps })
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  const { metadata } = JSON.parse(new TextDecoder().decode(value).slice('data: '.length)) as Sent
  const { runId } = (metadata as { keepup: { runId: string } }).keepup
  await reader.cancel()
  giveSign(workspace)
  await world.services.drivers.ended(runId)
  expect(last(await eventsOf(await run('left', [user('m1', 'wait')])))).toMatchObject({ outcome: { type: 'success' } })
})

it('needs the rights of what it does', async () => {
  const other = await openWorld()
  onTestFinished(() => other.close())
  const post = async (key: string, path: string, body: object) =>
    other.ask('POST', path, { body, headers: key === '' ? {} : { authorization: `Bearer ${key}` } })
  const { key: admin } = await bodyOf<{ key: string }>(await post('', '/v1/access', { principal: 'ann', name: 'Ann' }))
  const keyOf = async (principal: string, roles: string[]) => {
    await post(admin, '/v1/access/principals', { principal, roles })
    return (await bodyOf<{ key: string }>(await post(admin, `/v1/access/principals/${principal}/keys`, {}))).key
  }
  const [auditor, operator] = [await keyOf('ada', ['auditor']), await keyOf('otto', ['operator'])]
  const forwardedProps = { keepup: { model: other.model } }
  const body = { threadId: 't', runId: 'r', messages: [user('m1', 'ask me')], forwardedProps }
  const refusal = async (key: string, more: object = {}) =>
    (await bodyOf<{ detail: string }>(await post(key, '/v1/ag-ui', { ...body, ...more }))).detail
  expect(await refusal(auditor)).toContain('the right runs.start')
  expect(
    (
      await bodyOf<{ runs: object[] }>(
        await other.ask('GET', '/v1/runs', { headers: { authorization: `Bearer ${admin}` } }),
      )
    ).runs,
  ).toEqual([])
  const events = await eventsOf(await post(operator, '/v1/ag-ui', body))
  const resume = interruptsOf(events).map(({ id }) => ({ interruptId: id, status: 'resolved', payload: { text: 'x' } }))
  expect(await refusal(auditor, { resume })).toContain('the right runs.steer')
  expect(await refusal(auditor, { messages: [...body.messages, user('m2', 'y')] })).toContain('the right runs.steer')
  expect(interruptsOf(await eventsOf(await post(auditor, '/v1/ag-ui', body)))).toHaveLength(1)
  // A run that no process drives: whoever may not steer it only reads it.
  const { runId } = await bodyOf<{ runId: string }>(
    await post(operator, '/v1/runs', { task: 'finish', model: other.model, drive: false }),
  )
  const rested = { threadId: runId, runId: 'r', messages: [] }
  const unknown = { resume: [{ interruptId: 'x', status: 'resolved' }] }
  for (const more of [{}, unknown]) {
    const read = await eventsOf(await post(auditor, '/v1/ag-ui', { ...rested, ...more }))
    expect(last(read)).toMatchObject({ type: 'RUN_ERROR', code: 'INTERRUPTED' })
  }
  expect(types(await eventsOf(await post(operator, '/v1/ag-ui', rested)))).toContain('STEP_FINISHED')
})

it("works with the official client's agent", async () => {
  const agent = new HttpAgent({
    url: 'http://localhost/v1/ag-ui',
    headers: { authorization: `Bearer ${TOKEN}` },
    threadId: 'client',
    initialMessages: [{ id: 'm1', role: 'user', content: 'ask me' }],
    fetch: (url, init) => Promise.resolve(world.http.fetch(new Request(url, init))),
  })
  await agent.runAgent({ forwardedProps: settings() })
  expect(agent.messages.at(-1)?.content).toBe('Which?')
  const pending = (agent as unknown as { pendingInterrupts: Interrupt[] }).pendingInterrupts
  const resume = [{ interruptId: pending[0]!.id, status: 'resolved' as const, payload: { text: 'the last' } }]
  await agent.runAgent({ resume })
  expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'the last' })
})

describe('live text', () => {
  const answer = (turn: number, text: string, agent = 'root') =>
    ({
      stream: `agent-${agent}`,
      turn,
      type: 'model_call_end',
      timestamp: '2026-01-01T00:00:00.000Z',
      payload: { purpose: 'turn', content: [{ type: 'text', text }], servedBy: 'm', usage: NO_USAGE },
    }) as unknown as EventView
  const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' } as const
  const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' } as const
  const streamed = async (act: (events: RunEvents) => AgUiEvent[][]) => {
    const events = new RunEvents('root', [], new Map())
    return accepted([started, ...act(events).flat(), ...events.close(), finished] as Sent[])
  }

  it('is followed by the rest of the recorded answer', async () => {
    const events = await streamed((e) => [e.text('root', 1, 'Hel'), e.map(answer(1, 'Hello')), e.text('root', 1, 'lo')])
    expect(textOf(events)).toEqual(['Hel', 'lo'])
  })

  it('of a failed attempt is replaced by the recorded answer', async () => {
    const events = await streamed((e) => [
      e.text('root', 1, 'Wrong'),
      e.text('root', 1, 'Right'),
      e.map(answer(1, 'Right')),
    ])
    expect(events.find(({ type }) => type === 'MESSAGES_SNAPSHOT')?.messages).toEqual([
      { id: 'root.t1', role: 'assistant', content: 'Right' },
    ])
  })

  it('of the next turn ends the message, and the answer that is recorded later completes neither', async () => {
    const early = (recorded: string) =>
      streamed((e) => [
        e.text('root', 1, 'One'),
        e.text('root', 2, 'Tw'),
        e.map(answer(1, recorded)),
        e.text('root', 2, 'o'),
        e.map(answer(2, 'Two')),
      ])
    const same = await early('One')
    expect(textOf(same)).toEqual(['One', 'Tw', 'o'])
    expect(types(same).filter((type) => type === 'TEXT_MESSAGE_START')).toHaveLength(2)
    const other = await early('One more')
    expect(other.find(({ type }) => type === 'MESSAGES_SNAPSHOT')?.messages).toMatchObject([
      { id: 'root.t1', content: 'One more' },
      { id: 'root.t2', content: 'Tw' },
    ])
    expect(textOf(other)).toEqual(['One', 'Tw', 'o'])
  })

  it('of a subagent carries its id, and what is open is closed at the end', async () => {
    const events = await streamed((e) => [
      e.text('child', 1, 'a'),
      e.text('root', 2, 'b'),
      e.map(answer(1, 'ab', 'child')),
    ])
    expect(types(events)).toEqual([
      ...['RUN_STARTED', 'SUBAGENT_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_START'],
      ...['TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'TEXT_MESSAGE_END', 'SUBAGENT_FINISHED'],
      'RUN_FINISHED',
    ])
    expect(events[2]).toMatchObject({ subagentRunId: 'child' })
  })
})
