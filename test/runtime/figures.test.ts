import { describe, expect, test } from 'vitest'
import { StartAgent } from '../../domain/agent/decide/commands.ts'
import { ToolSpec } from '../../domain/calls/tools/tool-spec.ts'
import { AgentSpec } from '../../domain/tree/spec.ts'
import { call, calls, completes, testModel, testSpec, toolSpec } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

// A number may not make a run fail again and again, paid for each time.

describe('what a run is started with', () => {
  const day = 86_400_000
  test.each([
    ['policy.approvalTtlMs', (ms: number) => ({ policy: { approvalTtlMs: ms } })],
    ['recovery.graceTimeoutMs', (ms: number) => ({ recovery: { graceTimeoutMs: ms } })],
    ['retry.backoffMs', (ms: number) => ({ retry: { backoffMs: ms } })],
    ['retry.backoffCapMs', (ms: number) => ({ retry: { backoffCapMs: ms } })],
    ['limits.wallClockMs', (ms: number) => ({ limits: { maxTurns: 3, wallClockMs: ms } })],
    ['models.known.0.timeoutMs', (ms: number) => models({ timeoutMs: ms })],
    ['tools.0.timeLimitMs', (ms: number) => ({ tools: [toolSpec('look', { timeLimitMs: ms })] })],
  ])('%s is at most 100 days', (path, spec) => {
    expect(testSpec(spec(100 * day))).toBeDefined()
    const { error } = AgentSpec.safeParse({ ...JSON.parse(JSON.stringify(testSpec())), ...spec(100 * day + 1) })
    expect(error?.issues.map((issue) => issue.path.join('.'))).toContain(path)
  })

  const models = (more: object) => ({
    models: { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, ...more }] },
  })

  test.each([
    ['tokens', { contextTokens: 9e15 }],
    ['prices', { price: { asOf: 'x', input: 9e15, output: 0, cacheRead: 0, cacheWrite: 0 } }],
  ])('%s are such that what a call takes can be counted', (_, more) => {
    expect(() => testSpec(models(more))).toThrow()
  })

  test.each([
    ['server:list.all', false],
    ['server:list-all', true],
    [`a${'b'.repeat(63)}`, true],
    [`a${'b'.repeat(64)}`, false],
    [`server:${'b'.repeat(56)}`, true],
    [`server:${'b'.repeat(57)}`, false],
  ])('a tool named %s', (name, fine) => {
    expect(ToolSpec.safeParse(toolSpec(name)).success).toBe(fine)
    expect(StartAgent.safeParse({ kind: 'start', spec: testSpec({ tools: [] }), task: null }).success).toBe(true)
  })
})

describe('what a model says it took', () => {
  const answer = (input: number) => ({ ...completes(), usage: { input, output: 1, cacheRead: 0, cacheWrite: 0 } })

  test.each([1.5, -1, 1e12 + 1, Number.MAX_SAFE_INTEGER, Number.NaN])('%d tokens are no answer', async (input) => {
    const run = await given({ says: [answer(input)] })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'MODEL_FAILED' })
    expect((await run.of('error'))[0]?.body).toMatchObject({ code: 'INVALID_RESPONSE' })
    expect(run.requests).toHaveLength(1)
  })

  test('what cannot be counted in money ends the run by name, paid for once', async () => {
    const dear = { asOf: 'x', input: 1e13, output: 1e13, cacheRead: 0, cacheWrite: 0 }
    const models = { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, price: dear }] }
    const run = await given({ says: [answer(1e12)], spec: { models } })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'INTERNAL_ERROR' })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'INTERNAL_ERROR' })
    expect(run.requests).toHaveLength(1)
    expect((await run.of('error'))[0]?.body.error).toContain('an amount above 9,007,199 dollars')
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })
})

test('arguments are measured in bytes', async () => {
  const put = tool('put', { effect: 'idempotent' })
  const wide = { text: 'ü'.repeat(600_000) }
  const run = await given({ says: [calls(call('put', wide)), completes()], tools: [put] })
  await run.drive()
  expect(await run.ends()).toEqual(['put: INVALID_ARGUMENTS', 'complete_task: ok'])
})

test('what was said last is joined as the model’s texts are', async () => {
  const texts = ['one', 'two'].map((text) => ({ type: 'text', text }))
  const run = await given({ says: [{ content: texts, stopReason: 'end_turn' }] })
  expect(await run.drive()).toMatchObject({ code: 'NO_COMPLETION' })
  expect((await run.of('error'))[0]?.body.partialOutput).toBe('one\ntwo')
})
