import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MEMORY_CONTROL_TOOLS } from '../../../domain/agent/control/memory-tools.ts'
import type { EventOf } from '../../../domain/agent/events/events.ts'
import { compareRunHistories } from '../../../domain/agent/runtime/history/compare.ts'
import { ModelError, ToolError } from '../../../domain/calls/errors.ts'
import type { ModelRequest } from '../../../domain/ports/index.ts'
import { call, calls, completes, says, testModel, USER } from '../../support/harness.ts'
import { law } from '../../support/laws.ts'
import { come, models, price, reusing, sets, signal, writes } from '../../support/reusing.ts'
import { given, type Said, tool } from '../../support/story.ts'

describe('5.9 a fork that takes recorded answers', () => {
  test('ends as its source did; no model and no tool is asked again, and nothing is on its bill', async () => {
    const write = tool('write', { effect: 'irreversible' })
    const run = await given({ says: [sets, writes, says('hm'), completes()], tools: [write], spec: { models } })
    const source = await run.drive()
    const asked = run.requests.length
    for (const step of [1, 2, 3, 4]) {
      const fork = await reusing(run, { step })
      expect(fork.end).toEqual(source)
      expect(await fork.left()).toEqual([])
      const ends = await fork.of('model_call_end')
      for (const { body } of ends) expect(body).toMatchObject({ nanoDollars: 0, usage: { input: 0, output: 0 } })
      expect((await fork.state()).spent).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, nanoDollars: 0 })
      expect((await run.runtime.verify(fork.runId)).problems).toEqual([])
      // A fork within a turn ends that turn without a fact of its own.
      if (step % 2 === 0) expect((await compareRunHistories(run.ports, run.runId, fork.runId)).first).toBeNull()
    }
    expect(run.requests).toHaveLength(asked)
    expect(write.ran).toHaveLength(1)
    expect((await run.state()).spent.nanoDollars).toBeGreaterThan(0)
  })

  test('each outcome that is taken names its event in the record', async () => {
    const run = await given({ says: [sets, writes, completes()], tools: [tool('write')] })
    await run.drive()
    const fork = await reusing(run, { turn: 1 })
    const taken = [...(await fork.of('model_call_end')), ...(await fork.of('tool_call_end'))].map(
      ({ body }) => body.reused,
    )
    const events = await run.events()
    for (const place of taken) {
      expect(place?.stream).toBe(`agent-${run.runId}`)
      expect(['model_call_end', 'tool_call_end']).toContain(events[place!.revision]?.type)
    }
    expect((await fork.state()).reuse).toMatchObject({ models: 2, tools: 2, left: null })
  })

  test('a failure, and a call of which the outcome was given up, are taken as they were recorded', async () => {
    const fails = tool('write', {}, () => {
      throw new ToolError('EXECUTION_FAILED', 'no disk')
    })
    const run = await given({ says: [sets, writes, writes, completes()], tools: [fails] })
    await run.drive()
    const fork = await reusing(run, { turn: 1 })
    expect((await fork.of('tool_call_end')).map(({ body }) => body.error?.code)).toEqual([
      'EXECUTION_FAILED',
      'DUPLICATE_FAILED_ACTION',
      undefined,
    ])
    expect(fails.ran).toHaveLength(1)
    expect(await fork.left()).toEqual([])
  })

  test('a failed attempt of a model is taken without its wait, and what ended the run ends the fork', async () => {
    const down = new ModelError('OVERLOADED', 'reset', { transient: true })
    const run = await given({ says: [sets, down, writes, completes()], tools: [tool('write')] })
    await run.drive()
    const fork = await reusing(run, { turn: 1 })
    expect(fork.end).toEqual({ end: 'done' })
    const failures = (await fork.of('error')).map(({ body }) => body)
    expect(failures.every(({ reused, delayMs }) => reused !== undefined && delayMs === 0)).toBe(true)
    expect(failures).toHaveLength((await run.of('error')).length)
    const spec = { retry: { backoffMs: 10, maxRetries: 1, modelOutageMs: 0 } }
    const dead = await given({ says: [sets, () => down], spec })
    const end = await dead.drive()
    expect(end).toMatchObject({ end: 'error', code: 'MODEL_FAILED' })
    const asked = dead.requests.length
    expect((await reusing(dead, { turn: 1 })).end).toEqual(end)
    expect(dead.requests).toHaveLength(asked)
  })

  test('what a person has decided on a call is its outcome: it needs no new approval', async () => {
    const spec = { policy: { requiresApproval: ['write'] } }
    const write = tool('write', { effect: 'irreversible' })
    const run = await given({ says: [sets, writes, calls(call('write', { n: 2 })), completes()], tools: [write], spec })
    for (const decision of ['approved', 'rejected'] as const) {
      await run.drive()
      const { toolCallId } = (await run.of('approval_requested')).at(-1)!
      await run.say({ kind: 'decide_approval', toolCallId: toolCallId!, decision })
    }
    expect(await run.drive()).toEqual({ end: 'done' })
    const fork = await reusing(run, { turn: 1 })
    expect(fork.end).toEqual({ end: 'done' })
    expect(await fork.of('approval_requested')).toEqual([])
    expect((await fork.of('tool_call_end')).map(({ body }) => body.error?.code)).toEqual([
      undefined,
      'APPROVAL_REJECTED',
      undefined,
    ])
    expect(write.ran).toHaveLength(1)
    expect(
      (await compareRunHistories(run.ports, run.runId, fork.runId)).places.filter(({ same }) => !same),
    ).toMatchObject([{ path: ['turn 2', 'call 0', 'approval'] }, { path: ['turn 3', 'call 0', 'approval'] }])
  })

  test('an outcome that was unknown is unknown in the fork: a person decides there', async () => {
    const spec = { policy: { requiresApproval: ['write'] } }
    const never = tool('write', { effect: 'irreversible', timeLimitMs: 10 }, () => new Promise(() => undefined))
    const run = await given({ says: [sets, calls(call('write')), completes()], tools: [never], spec: { ...spec } })
    await run.drive()
    await run.say({ kind: 'decide_approval', toolCallId: run.call(2), decision: 'approved' })
    expect(await run.drive()).toMatchObject({ end: 'waiting', for: 'doubt' })
    const fork = await reusing(run, { turn: 1 })
    expect(fork.end).toMatchObject({ end: 'waiting', for: 'doubt' })
    expect(never.ran).toHaveLength(1)
  })
})

test('5.9 what was saved beyond the run is not saved again, and what was read is as it was then', async () => {
  const asked: string[] = []
  const memory = {
    perform: async ({ kind }: { kind: string }) => {
      asked.push(kind)
      return { [kind]: asked.length }
    },
  }
  const tools = MEMORY_CONTROL_TOOLS.map(({ spec }) => ({ ...tool(spec.name), spec }))
  const said = [
    call('remember', { text: 'the port is 8080' }),
    call('recall', { query: 'port' }),
    call('forget', { id: 'run-0123456789abcdefghjkmnpq' }),
    call('read_history', { fromTurn: 1 }),
  ]
  const run = await given({
    says: [sets, ...said.map((one) => calls(one)), completes()],
    tools,
    spec: { readsHistory: true },
    ports: { memory },
  })
  expect(await run.drive()).toEqual({ end: 'done' })
  const fork = await reusing(run, { turn: 1 })
  expect(fork.end).toEqual({ end: 'done' })
  expect(asked).toEqual(['remember', 'recall', 'forget'])
  expect(await fork.left()).toEqual([])
  const results = async (ends: Promise<EventOf<'tool_call_end'>[]>) => (await ends).map(({ body }) => body.result)
  const taken = await results(fork.of('tool_call_end'))
  expect(taken).toEqual((await results(run.of('tool_call_end'))).slice(1))
  expect(taken.slice(0, 3)).toEqual([{ remember: 1 }, { recall: 2 }, { forget: 3 }])
  expect(taken[3]).toContain('set_context')
})

describe('5.9 a context that is compressed', () => {
  async function long(compressionStrategy: string) {
    let asked = 0
    const answer = (request: ModelRequest) => {
      const input = Math.ceil(JSON.stringify(request).length / 3)
      const usage = { input, output: 20, cacheRead: 0, cacheWrite: 0 }
      if (request.tools.length === 0) return { ...says('a summary'), usage }
      asked++
      return asked <= 14 ? { ...calls(call('look', { n: asked }, `c${asked}`)), usage } : { ...completes(), usage }
    }
    const known = [{ ...testModel, id: 'm', price, contextTokens: 8_000, maxOutputTokens: 500 }]
    const run = await given({
      says: [answer],
      tools: [tool('look', {}, ({ n }) => `result ${n}: ${'x'.repeat(2_000)}`)],
      spec: { models: { ...models, known }, context: { compressionStrategy }, readsOn: true, readsHistory: true },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('context_compressed')).length).toBeGreaterThan(0)
    return run
  }

  test('hides the same turns in the fork, which follows the record to its end', async () => {
    const run = await long('truncate')
    const asked = run.requests.length
    const fork = await reusing(run, { turn: 1 })
    expect(fork.end).toEqual({ end: 'done' })
    expect(await fork.left()).toEqual([])
    expect(run.requests).toHaveLength(asked)
    const bodies = (events: EventOf<'context_compressed'>[]) => events.map(({ body }) => body)
    expect(bodies(await fork.of('context_compressed'))).toEqual(bodies(await run.of('context_compressed')))
    expect((await run.runtime.verify(fork.runId)).problems).toEqual([])
  })

  test('a summary is made anew: the fork leaves the record before it, and says so', async () => {
    const run = await long('summarize')
    const asked = run.requests.length
    const fork = await reusing(run, { turn: 1 })
    expect(fork.end).toEqual({ end: 'done' })
    const reason = 'a summary of the context is due, and summaries are not taken from the record'
    expect(await fork.left()).toEqual([{ reason, differs: [] }])
    // The first request of the fork to a provider is that for the summary.
    expect(run.requests[asked]?.tools).toEqual([])
    const [first] = (await run.of('model_call_start')).filter(({ body }) => body.purpose === 'summary')
    const before = (await run.of('model_call_end')).filter(
      ({ revision, turn }) => turn > 1 && revision < first!.revision,
    )
    expect((await fork.state()).reuse).toMatchObject({ models: before.length, tools: before.length })
    expect((await fork.state()).spent.nanoDollars).toBeGreaterThan(0)
    expect((await run.runtime.verify(fork.runId)).problems).toEqual([])
  })
})

test('5.9 what a fork has taken can be erased, and the fork is still proved by its log', async () => {
  const run = await given({ says: [sets, writes, completes()], tools: [tool('write')] })
  await run.drive()
  const fork = await reusing(run, { turn: 1 })
  for (const { revision } of [...(await fork.of('model_call_end')), ...(await fork.of('tool_call_end'))]) {
    await run.runtime.execute(fork.runId, { kind: 'erase', revision, reason: 'asked' }, { by: USER })
    expect((await run.elsewhere().verify(fork.runId)).problems).toEqual([])
  }
  expect((await fork.state()).reuse).toMatchObject({ models: 2, tools: 2 })
})

test('5.9 a fork of a fork follows the record of both', async () => {
  const run = await given({ says: [sets, writes, sets, completes(), completes('b')], tools: [tool('write')] })
  await run.drive()
  const b = (await run.runtime.fork(run.runId, { turn: 3 }, {}, { by: USER })).runId
  await run.runtime.drive(b, { signal })
  const asked = run.requests.length
  const c = (await run.runtime.fork(b, { turn: 1 }, { reuse: true }, { by: USER })).runId
  expect(await run.runtime.drive(c, { signal })).toEqual({ end: 'done' })
  expect(run.requests).toHaveLength(asked)
  expect((await run.runtime.at(c, null)).state.reuse).toMatchObject({ models: 3, tools: 3, left: null })
  expect((await compareRunHistories(run.ports, b, c)).first).toBeNull()
})

const SAID: Record<string, Said> = {
  sets,
  writes,
  fails: calls(call('fails', { n: 1 })),
  long: calls(call('long')),
  reads: calls(call('read_result', { toolCallId: 'none', from: 0 })),
  two: calls(call('write', { n: 2 }), call('long', {}, 'l')),
  wrong: calls(call('nothing')),
  text: says('hm'),
  cut: { ...says('cut'), stopReason: 'max_tokens' },
}

test('5.9 from the end of any turn of any run: the same end, and nothing is performed', async () => {
  const plan = fc.record({
    steps: fc.array(fc.constantFrom(...Object.keys(SAID)), { minLength: 1, maxLength: 6 }),
    mode: fc.constantFrom('interactive', 'batch'),
    at: fc.nat(),
  })
  await law(plan, 25, async ({ steps, mode, at }) => {
    let performed = 0
    const doing = (does: () => unknown) => () => {
      performed++
      return does()
    }
    const tools = [
      tool(
        'write',
        { effect: 'irreversible' },
        doing(() => ({ at: 'once' })),
      ),
      tool(
        'fails',
        {},
        doing(() => {
          throw new ToolError('EXECUTION_FAILED', 'no')
        }),
      ),
      tool(
        'long',
        {},
        doing(() => 'x'.repeat(90_000)),
      ),
    ]
    const run = await given({
      says: [...steps.map((one) => SAID[one]!), completes()],
      tools,
      spec: { policy: { mode }, readsOn: true },
    })
    await run.drive()
    const [asked, before] = [run.requests.length, performed]
    const turns = (await run.of('turn_end')).length
    // After its last turn a fork goes on where its source had ended.
    const turn = 1 + (at % Math.max(1, turns - 1))
    const fork = await reusing(run, { turn })
    if (turn < turns) {
      const ids = [run.runId, fork.runId]
      expect(come(await run.runtime.at(fork.runId, null), ids)).toEqual(
        come(await run.runtime.at(run.runId, null), ids),
      )
      expect((await compareRunHistories(run.ports, run.runId, fork.runId)).first).toBeNull()
      expect([run.requests.length, performed]).toEqual([asked, before])
    }
    expect((await run.runtime.verify(fork.runId)).problems).toEqual([])
  })
})
