import { describe, expect, test, vi } from 'vitest'
import { ModelError, ToolError } from '../../domain/calls/errors.ts'
import { call, calls, completes, harness, says, testSpec, toolSpec, USER } from '../support/harness.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'

const echo = { spec: toolSpec('echo'), run: async (args: object) => ({ content: args as never }) }

test('a run from task to completion, with its chain and digests proved', async () => {
  const h = harness((_, n) => (n === 1 ? calls(call('echo', { a: 1 })) : completes('all good')), { tools: [echo] })
  const runId = await h.start(testSpec({}, [echo]))
  expect(await h.drive(runId)).toEqual({ end: 'done' })
  expect(await h.types(runId)).toEqual([
    'agent_started',
    'user_input',
    'driver_claimed',
    'turn_start',
    'model_routed',
    'prompt_set',
    'tools_changed',
    'model_call_start',
    'model_call_end',
    'tool_call_start',
    'tool_call_end',
    'turn_end',
    'turn_start',
    'model_routed',
    'model_call_start',
    'model_call_end',
    'tool_call_start',
    'tool_call_end',
    'turn_end',
    'completion',
  ])
  const proof = await h.runtime.verify(runId)
  expect(proof).toMatchObject({ ok: true, events: 20, problems: [] })
  expect(proof.digests).toBeGreaterThan(4)
  expect(h.requests[1]?.messages).toEqual([
    { role: 'user', content: 'do it' },
    { role: 'assistant', content: [call('echo', { a: 1 })] },
    expect.objectContaining({ role: 'tool', content: '{"a":1}', isError: false }),
  ])
})

test('no effect is broken off whose outcome is recorded', async () => {
  const aborts = vi.spyOn(AbortController.prototype, 'abort')
  try {
    const h = harness((_, n) => (n < 4 ? calls(call('echo', { n })) : completes()), { tools: [echo] })
    const runId = await h.start(testSpec({}, [echo]))
    expect(await h.drive(runId)).toEqual({ end: 'done' })
    expect(aborts.mock.calls.filter(([reason]) => reason instanceof ToolError)).toEqual([])
  } finally {
    aborts.mockRestore()
  }
})

test('a steady turn takes two appends', async () => {
  let appends = 0
  const h = harness((_, n) => (n < 5 ? calls(call('echo', { n })) : completes()), { tools: [echo] })
  const append = h.log.append.bind(h.log)
  h.log.append = (...args) => {
    appends++
    return append(...args)
  }
  const runId = await h.start(testSpec({}, [echo]))
  await h.drive(runId)
  // start, claim, proceed, then two for each of the five turns
  expect(appends).toBe(3 + 5 * 2)
})

test('stopping without complete_task is ERROR and names the tool', async () => {
  const h = harness(() => says('I am done.'))
  const runId = await h.start(testSpec())
  expect(await h.drive(runId)).toMatchObject({
    end: 'error',
    code: 'NO_COMPLETION',
    error: expect.stringContaining('complete_task'),
  })
})

test('a write waits for approval, and goes on when it is given', async () => {
  const written: unknown[] = []
  const write = {
    spec: toolSpec('write_file', { effect: 'reconcilable' }),
    run: async (args: object) => {
      written.push(args)
      return { content: 'written' }
    },
  }
  const h = harness((_, n) => (n === 1 ? calls(call('write_file', { path: 'a' })) : completes()), { tools: [write] })
  const runId = await h.start(testSpec({}, [write]))
  const end = await h.drive(runId)
  expect(end).toEqual({ end: 'waiting', for: 'approval', toolCallIds: [`${runId}.t1.c0`] })
  expect(written).toEqual([])
  const approve = { kind: 'decide_approval', toolCallId: `${runId}.t1.c0`, decision: 'approved' } as const
  await h.runtime.execute(runId, approve, { by: USER })
  await expect(h.runtime.execute(runId, approve, { by: USER })).rejects.toMatchObject({
    code: 'APPROVAL_NOT_PENDING',
  })
  expect(await h.drive(runId)).toEqual({ end: 'done' })
  expect(written).toEqual([{ path: 'a' }])
  expect((await h.runtime.verify(runId)).problems).toEqual([])
})

test('the final warning comes on turn maxTurns - graceTurns, offers complete_task alone, and fails on anything else', async () => {
  const h = harness(() => calls(call('echo')), { tools: [echo] })
  const runId = await h.start(testSpec({ limits: { maxTurns: 5, wallClockMs: null } }, [echo]))
  expect(await h.drive(runId)).toMatchObject({ end: 'error', code: 'RECOVERY_FAILED' })
  expect(h.requests).toHaveLength(3)
  expect(h.requests[2]?.tools.map((tool) => tool.name)).toEqual(['complete_task'])
  expect(h.requests[2]?.messages.at(-1)).toMatchObject({
    role: 'system',
    content: expect.stringMatching(/^Final warning/),
  })
  expect((await h.types(runId)).slice(-3)).toEqual(['turn_end', 'recovery', 'error'])
})

test('ask_user waits for input; the answer is the next user message', async () => {
  const h = harness((_, n) => (n === 1 ? calls(call('ask_user', { question: 'Which?' })) : completes()))
  const runId = await h.start(testSpec())
  expect(await h.drive(runId)).toMatchObject({ end: 'waiting', for: 'input' })
  await h.runtime.execute(runId, { kind: 'input', text: 'That one.' }, { by: USER })
  expect(await h.drive(runId)).toEqual({ end: 'done' })
  expect(h.requests[1]?.messages.at(-1)).toEqual({ role: 'user', content: 'That one.' })
})

test('every request that a model was sent is rebuilt from the log', async () => {
  const answers = [new ModelError('NETWORK', 'gone', { transient: true }), calls(call('echo', { a: 1 })), completes()]
  const h = harness((_, n) => answers[n - 1]!, { tools: [echo] })
  const runId = await h.start(testSpec({}, [echo]))
  await h.drive(runId)
  const rebuilt = [...(await h.runtime.requests(runId, 1)), ...(await h.runtime.requests(runId, 2))]
  expect(rebuilt.map(({ attempt }) => attempt)).toEqual([1, 2, 1])
  expect(rebuilt.map(({ request }) => request)).toEqual(h.requests)
  await expect(h.runtime.requests(runId, 3)).rejects.toMatchObject({ code: 'POINT_UNKNOWN' })
})

test('fork, replay, cancel', async () => {
  const h = harness((r, n) => (r.messages.length < 5 ? calls(call('echo', { n })) : completes()), { tools: [echo] })
  const runId = await h.start(testSpec({}, [echo]))
  await h.drive(runId)
  const at = await h.runtime.at(runId, { step: 2 })
  expect(at.state).toMatchObject({ step: 2, turn: 1 })
  const forked = await h.runtime.fork(runId, { step: 2 }, {}, { by: USER })
  expect(await h.drive(forked.runId)).toEqual({ end: 'done' })
  expect((await h.runtime.verify(forked.runId)).problems).toEqual([])
  const other = await h.start(testSpec({}, [echo]))
  await h.runtime.execute(other, { kind: 'cancel', deadlineMs: 1000 }, { by: USER })
  expect(await h.drive(other)).toMatchObject({ end: 'error', code: 'CANCELLED' })
})

describe('an answer that cannot be recorded', () => {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`) as never

  test.each([
    ['a block of a strange kind nested without end', { type: 'strange', a: nested(100_000) } as never],
    ['a block of a strange kind with a number that is none', { type: 'strange', n: Number.NaN } as never],
  ])('%s is the model’s failure, which ends the run and is not asked for again', async (_, content) => {
    const h = harness(() => ({ content: [content], stopReason: 'tool_use' }))
    const runId = await h.start(testSpec())
    expect(await h.drive(runId)).toMatchObject({ end: 'error', code: 'MODEL_FAILED' })
    expect(h.requests).toHaveLength(1)
    const [failed] = (await h.events(runId)).filter((event) => event.type === 'error')
    expect(failed?.body).toMatchObject({ code: 'INVALID_RESPONSE', recoverable: true })
    expect(await h.drive(runId)).toMatchObject({ end: 'error' })
  })

  const argument = (a: unknown) => ({ type: 'tool_use', id: 'c', name: 'echo', input: { a } }) as never
  const raw = (input_text: string) => ({ type: 'tool_use', id: 'c', name: 'echo', input_text }) as never
  const deep = `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`
  const many = JSON.stringify({ a: Array(60_000).fill(1) })

  test.each([
    ['nested without end', argument(nested(100_000)), 'not a JSON object'],
    ['with a number that is none', argument(Number.POSITIVE_INFINITY), 'not a JSON object'],
    ['with half of a surrogate pair', argument('\ud800'), 'a: contains half of a surrogate pair'],
    ['with half of a surrogate pair, as text', raw('{"a":"\\ud800"}'), 'a: contains half of a surrogate pair'],
    ['with NUL', raw('{"a":"\\u0000"}'), 'a: contains a NUL character'],
    ['with __proto__', raw('{"a":{"__proto__":{}}}'), 'a.__proto__: this key is not allowed'],
    ['with half of a surrogate pair for a key', raw('{"\\udfff":1}'), 'half of a surrogate pair'],
    ['over 1 MiB', raw(JSON.stringify({ a: 'x'.repeat(1 << 20) })), 'larger than 1 MiB'],
    ['over 1 MiB, as an object', argument('x'.repeat(1 << 20)), 'larger than 1 MiB'],
    ['nested deeper than 100 levels', raw(deep), 'deeper than 100 levels'],
    ['with more values than the limit', raw(many), 'hold more'],
  ])('arguments %s are refused for that call, and the run goes on', async (_, content, message) => {
    const h = harness((_, n) => (n === 1 ? { content: [content], stopReason: 'tool_use' } : completes()), {
      tools: [echo],
    })
    const runId = await h.start(testSpec({}, [echo]))
    expect(await h.drive(runId)).toEqual({ end: 'done' })
    const ends = (await h.events(runId)).filter((event) => event.type === 'tool_call_end')
    expect(ends.map(({ body }) => body.error?.code ?? 'ok')).toEqual(['INVALID_ARGUMENTS', 'ok'])
    expect(ends[0]?.body.error?.message).toContain(message)
    expect((await h.runtime.verify(runId)).problems).toEqual([])
  })

  test('an answer of more than 8 MiB is cut, recorded as cut, and the model is told', async () => {
    const text = (size: number) => ({ type: 'text', text: 'x'.repeat(size) }) as never
    const long = { content: [text(4 << 20), text(5 << 20)], stopReason: 'end_turn' as const }
    const h = harness((_, n) => (n === 1 ? long : completes()))
    const runId = await h.start(testSpec())
    expect(await h.drive(runId)).toEqual({ end: 'done' })
    const [answer] = (await h.events(runId)).filter((event) => event.type === 'model_call_end')
    expect(answer?.body).toMatchObject({ cut: 'bytes', stopReason: 'max_tokens' })
    expect(JSON.stringify(answer?.body).length).toBeLessThan((8 << 20) + 1_000)
    expect(h.requests[1]?.messages.at(-1)).toMatchObject({ content: expect.stringContaining('cut off') })
  })

  test('one whose redaction fails is treated alike', async () => {
    const json = () => {
      throw new ToolError('INVALID_ARGUMENTS', 'too deep')
    }
    const secrets = { ...NO_SECRETS, json: json as never }
    const close = async () => undefined
    const environment = async () => ({ workspace: null, sandbox: null, secrets, reap: close, close })
    const h = harness(() => says('hello'), { ports: { environment } })
    expect(await h.drive(await h.start(testSpec()))).toMatchObject({ end: 'error', code: 'MODEL_FAILED' })
    expect(h.requests).toHaveLength(1)
  })
})

describe('an agent that waits for people', () => {
  const write = {
    spec: toolSpec('write_file', { effect: 'reconcilable' }),
    run: async () => ({ content: 'written' }),
  }
  const asks = calls(call('write_file', { path: 'a' }, 'one'), call('write_file', { path: 'b' }, 'two'), call('echo'))
  const waiting = async () => {
    let opened = 0
    const h = harness((_, n) => (n === 1 ? asks : completes()), { tools: [write, echo] })
    const { environment } = h.ports
    Object.assign(h.ports, {
      environment: (...args: Parameters<typeof environment>) => {
        opened++
        return environment(...args)
      },
    })
    const policy = { mode: 'batch', requiresApproval: ['write_file'] }
    const runId = await h.start(testSpec({ policy }, [write, echo]))
    return { h, runId, end: await h.drive(runId), opened: () => opened }
  }

  test('is not written to, nor is its place opened, by drives that find nothing to do', async () => {
    const { h, runId, end, opened } = await waiting()
    expect(end).toMatchObject({ end: 'waiting', for: 'approval' })
    const before = await h.types(runId)
    for (let again = 0; again < 5; again++) expect(await h.drive(runId)).toEqual(end)
    expect([await h.types(runId), opened()]).toEqual([before, 1])
  })

  test('is driven when its approval has expired', async () => {
    const { h, runId } = await waiting()
    h.clock.time += 25 * 3_600_000
    await h.drive(runId)
    expect(await h.types(runId)).toContain('approval_expired')
  })
})

test('step 0 is the agent as it was started', async () => {
  const h = harness(() => completes())
  const runId = await h.start(testSpec())
  await h.drive(runId)
  const { state, head } = await h.runtime.at(runId, { step: 0 })
  expect([state.step, head.revision, state.machine.status]).toEqual([0, 0, 'IDLE'])
  await expect(h.runtime.at(runId, { step: 99 })).rejects.toThrow('its steps are 0 (as it was started) to')
})
