import { describe, expect, test } from 'vitest'
import { call, calls, completes } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const strict = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
}

describe('5.3.1 every tool call is schema-validated before execution', () => {
  test.each([
    ['a missing member', {}, 'path'],
    ['a wrong type', { path: 1 }, 'path'],
    ['another member', { path: 'a', more: 1 }, 'more'],
  ])('%s never runs; the answer names path and expectation', async (_, args, named) => {
    const look = tool('look', { parameters: strict })
    const run = await given({ says: [calls(call('look', args)), completes()], tools: [look] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(look.ran).toEqual([])
    expect(await run.ends()).toEqual(['look: INVALID_ARGUMENTS', 'complete_task: ok'])
    expect(await run.message()).toContain(named)
  })

  test('a tool whose schema cannot be used is refused at start', async () => {
    const odd = tool('odd', { parameters: { type: 'no such type' } })
    await expect(given({ says: [completes()], tools: [odd] })).rejects.toMatchObject({ code: 'SPEC_REFUSED' })
  })

  test('a context variable whose name is too long for the tables is refused at start, by its name', async () => {
    const start = (length: number) => given({ says: [], spec: { contextVariables: { ['k'.repeat(length)]: 1 } } })
    await expect(start(256)).resolves.toBeDefined()
    await expect(start(257)).rejects.toMatchObject({
      code: 'SPEC_REFUSED',
      message: expect.stringMatching(/^contextVariables: the name "k+… \(257 characters\)" .* at most 256 characters$/),
    })
  })

  test('two tools that look alike to the model are refused at start', async () => {
    const tools = [tool('web:get'), tool('web__get')]
    await expect(given({ says: [completes()], tools })).rejects.toMatchObject({ code: 'SPEC_REFUSED' })
  })
})

describe('5.3.2 every tool call passes the policy', () => {
  const tools = () => [tool('look'), tool('web:get'), tool('web:put'), tool('other')]
  test.each([
    ['nothing said', {}, ['ok', 'ok', 'ok', 'ok']],
    ['an allowlist', { allowedTools: ['look'] }, ['ok', 'not_allowed', 'not_allowed', 'not_allowed']],
    ['a server', { allowedTools: ['web:*'] }, ['not_allowed', 'ok', 'ok', 'not_allowed']],
    ['deny beats allow', { allowedTools: ['*'], deniedTools: ['web:put', 'other'] }, ['ok', 'ok', 'denied', 'denied']],
    ['deny a server', { deniedTools: ['web:*'] }, ['ok', 'denied', 'denied', 'ok']],
  ])('%s', async (_, policy, expected) => {
    const given_ = tools()
    const names = ['look', 'web__get', 'web__put', 'other']
    // A call that succeeds stands between two that are refused, so that no five violations come in a row.
    const set = (n: number) => calls(call('set_context', { key: 'k', value: n }))
    const run = await given({
      says: [...names.flatMap((name, n) => [calls(call(name)), set(n)]), completes()],
      tools: given_,
      spec: { policy },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    const ends = (await run.of('tool_call_end')).filter(
      ({ body }) => !['set_context', 'complete_task'].includes(body.toolName),
    )
    expect(ends.map(({ body }) => body.error?.rule ?? 'ok')).toEqual(expected)
    expect(ends.every(({ body }) => body.success || body.error?.code === 'PERMISSION_DENIED')).toBe(true)
    expect(given_.map(({ ran }) => ran.length)).toEqual(expected.map((end) => (end === 'ok' ? 1 : 0)))
    // What would be denied is not offered.
    expect(names.map((name) => (run.offered(0).includes(name) ? 'ok' : 'no'))).toEqual(
      expected.map((end) => (end === 'ok' ? 'ok' : 'no')),
    )
  })

  test('an allowlist does not take control tools away, a deny by name does', async () => {
    const set = calls(call('set_context', { key: 'k', value: 1 }))
    const allowed = await given({ says: [set, completes()], spec: { policy: { allowedTools: ['read_file'] } } })
    await allowed.drive()
    expect(await allowed.ends()).toEqual(['set_context: ok', 'complete_task: ok'])
    const denied = await given({ says: [set, completes()], spec: { policy: { deniedTools: ['set_context'] } } })
    await denied.drive()
    expect(await denied.ends()).toEqual(['set_context: PERMISSION_DENIED', 'complete_task: ok'])
  })

  test('an unknown tool is told what there is; a policy that names one is refused at start', async () => {
    const run = await given({ says: [calls(call('lok')), completes()], tools: [tool('look')] })
    await run.drive()
    expect(await run.ends()).toEqual(['unknown: RESOURCE_NOT_FOUND', 'complete_task: ok'])
    expect((await run.of('tool_call_end'))[0]?.body.error?.message).toContain('"lok"')
    expect(await run.message()).toContain('look')
    await expect(given({ says: [completes()], spec: { policy: { allowedTools: ['lok'] } } })).rejects.toMatchObject({
      code: 'SPEC_REFUSED',
    })
  })

  test('the order of checks: whole turn, known, well formed, schema, policy', async () => {
    const look = tool('look', { parameters: strict })
    const policy = { deniedTools: ['look'] }
    const bad = await given({
      says: [calls(call('look', {})), calls(call('look', { path: 'a' })), completes()],
      tools: [look],
      spec: { policy },
    })
    await bad.drive()
    expect(await bad.ends()).toEqual(['look: INVALID_ARGUMENTS', 'look: PERMISSION_DENIED', 'complete_task: ok'])
  })
})

describe('5.3.3 parallel execution only in batch mode', () => {
  async function atOnce(
    mode: string,
    maxParallel: number,
    effects: readonly ('pure' | 'irreversible')[],
    paths: readonly string[] = [],
  ) {
    let now = 0
    let most = 0
    const order: number[] = []
    const work = async (args: { n?: unknown }) => {
      most = Math.max(most, ++now)
      order.push(args.n as number)
      await run.clock.sleep(100)
      now--
      return args.n
    }
    const tools = [tool('pure_one', {}, work), tool('irreversible_one', { effect: 'irreversible' }, work)]
    const run = await given({
      says: [
        calls(
          ...effects.map((effect, n) => call(`${effect}_one`, { n, ...(paths[n] ? { path: paths[n] } : {}) }, `p${n}`)),
        ),
        completes(),
      ],
      tools,
      spec: { policy: { mode, maxParallel } },
    })
    await run.drive()
    return { most, order, run }
  }

  test('as many as maxParallel, no more', async () => {
    expect((await atOnce('batch', 2, ['pure', 'pure', 'pure', 'pure', 'pure'])).most).toBe(2)
    expect((await atOnce('batch', 4, ['pure', 'pure', 'pure'])).most).toBe(3)
  })

  test('a tool that declares nothing and is not pure runs alone, in the order of the calls', async () => {
    const { most, order } = await atOnce('batch', 4, ['pure', 'irreversible', 'pure', 'irreversible'])
    expect(most).toBe(1)
    expect(order).toEqual([0, 1, 2, 3])
  })

  test('results reach the model in call order, whichever came first', async () => {
    const slow = tool('slow', { timeLimitMs: 9_000 }, async (args) => {
      await run.clock.sleep(args.ms as number)
      return args.ms as number
    })
    const run = await given({
      says: [
        calls(call('slow', { ms: 300 }, 'a'), call('slow', { ms: 100 }, 'b'), call('slow', { ms: 200 }, 'c')),
        completes(),
      ],
      tools: [slow],
      spec: { policy: { mode: 'batch' } },
    })
    await run.drive()
    expect((await run.of('tool_call_end')).slice(0, 3).map(({ body }) => body.result)).toEqual([100, 200, 300])
    expect(run.seen(1).slice(-3)).toMatchObject([{ content: '300' }, { content: '100' }, { content: '200' }])
  })
})

describe('5.3.4 interactive mode enforces single-tool turns', () => {
  test('of two calls none runs; each is told', async () => {
    const look = tool('look')
    const run = await given({ says: [calls(call('look', {}, 'a'), call('look', {}, 'b')), completes()], tools: [look] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(look.ran).toEqual([])
    expect((await run.ends()).slice(0, 2)).toEqual(['look: SINGLE_STEP_VIOLATION', 'look: SINGLE_STEP_VIOLATION'])
    expect(await run.message()).toContain('Single-Step Constraint Violation')
    expect(run.requests[0]?.parallelCalls).toBe(false)
  })
})

describe('an answer with too many calls', () => {
  const many = (count: number) => calls(...Array.from({ length: count }, (_, i) => call('look', {}, `c${i}`)))

  test('128 are taken up; more are cut off, none of them runs, and the model is told', async () => {
    const look = tool('look')
    const spec = { policy: { mode: 'batch' } }
    const most = await given({ says: [many(128), completes()], tools: [look], spec })
    expect(await most.drive()).toEqual({ end: 'done' })
    expect(look.ran).toHaveLength(128)
    const flooded = await given({ says: [many(129), many(20_000), completes()], tools: [look], spec })
    expect(await flooded.drive()).toEqual({ end: 'done' })
    expect(look.ran).toHaveLength(128)
    expect((await flooded.of('model_call_end')).map(({ body }) => [body.cut, body.calls.length])).toEqual([
      ['calls', 128],
      ['calls', 128],
      [undefined, 1],
    ])
    expect(new Set((await flooded.ends()).slice(0, 256))).toEqual(new Set(['look: INVALID_ARGUMENTS']))
    expect(await flooded.of('tool_call_start')).toHaveLength(257)
    expect(JSON.stringify(flooded.seen(2))).toContain('cut off after 128 tool calls')
    expect((await flooded.runtime.verify(flooded.runId)).problems).toEqual([])
  })

  test('it is a violation, and another call in recovery', async () => {
    const spec = { policy: { mode: 'batch' } }
    const run = await given({ says: [many(200)], tools: [tool('look')], spec })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'TOO_MANY_VIOLATIONS' })
    expect(run.requests).toHaveLength(5)
    const last = await given({ says: [many(200)], spec: { ...spec, limits: { maxTurns: 1, wallClockMs: null } } })
    const error = expect.stringContaining('another tool was called')
    expect(await last.drive()).toMatchObject({ end: 'error', code: 'RECOVERY_FAILED', error })
  })
})

describe('a tool is foreign code', () => {
  test.each([
    ['no JSON', () => ({ big: 1n })],
    [
      'a circle',
      () => {
        const circle: Record<string, unknown> = {}
        circle.self = circle
        return circle
      },
    ],
  ])('a result that is %s is its failure', async (_, does) => {
    const run = await given({ says: [calls(call('odd')), completes()], tools: [tool('odd', {}, does)] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['odd: EXECUTION_FAILED', 'complete_task: ok'])
  })

  test('broken text comes in well formed', async () => {
    const run = await given({
      says: [calls(call('odd')), completes()],
      tools: [tool('odd', {}, () => ({ 'k\0': 'half \ud800' }))],
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('tool_call_end'))[0]?.body.result).toEqual({ 'k\ufffd': 'half \ufffd' })
  })

  test('one that hangs is ended at its limit: TIMEOUT where it may run again, a doubt where it may have happened', async () => {
    const hang = () => new Promise(() => undefined)
    const pure = await given({ says: [calls(call('look')), completes()], tools: [tool('look', {}, hang)] })
    expect(await pure.drive()).toEqual({ end: 'done' })
    expect(await pure.ends()).toEqual(['look: TIMEOUT', 'complete_task: ok'])
    const send = await given({
      says: [calls(call('send')), completes()],
      tools: [tool('send', { effect: 'irreversible' }, hang)],
    })
    expect(await send.drive()).toEqual({ end: 'waiting', for: 'doubt', toolCallIds: [send.call(1)] })
    const [unknown] = await send.of('tool_call_unknown')
    expect(unknown?.body.reason).toMatch(/^send had not ended \d+ ms after it began/)
  })
})
