import { describe, expect, test } from 'vitest'
import { ModelError } from '../../domain/calls/errors.ts'
import type { ToolFailure } from '../../domain/ports/index.ts'
import { call, calls, completes } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

// Tools and providers are foreign code: whatever they give back or throw becomes a fact that the log can hold.

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}
const circle: Record<string, unknown> = {}
circle.self = circle
const thicket = (() => {
  let value: unknown = [0]
  for (let i = 0; i < 60; i++) value = [value, value]
  return value
})()

/** A run whose first turn calls a tool that returns or throws this, and whose second one ends it. */
async function oddly(result: unknown, thrown = false) {
  const odd = tool('odd', { effect: 'irreversible' })
  odd.run = async () => {
    if (thrown) throw result
    return result as never
  }
  const run = await given({ says: [calls(call('odd')), completes()], tools: [odd] })
  expect(await run.drive()).toEqual({ end: 'done' })
  expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  const [end] = await run.of('tool_call_end')
  return end!.body
}

test.each([
  'UNKNOWN_OUTCOME',
  'PERMISSION_DENIED',
  'APPROVAL_REJECTED',
  'APPROVAL_EXPIRED',
  'DUPLICATE_FAILED_ACTION',
  'SINGLE_STEP_VIOLATION',
  'GATE_FAILED',
  'CANCELLED',
  'INTERRUPTED',
])('a tool that throws %s says what only the runtime can: it has failed', async (code) => {
  const error = Object.assign(new Error('so it says'), { name: 'ToolError', code, transient: false })
  expect((await oddly(error, true)).error).toEqual({ code: 'EXECUTION_FAILED', message: 'so it says' })
})

describe('what a tool gives back', () => {
  test.each([
    [{ content: 'x', changed: [1] }, 'changed.0: '],
    [{ content: 'x', changed: 'a.txt' }, 'changed: '],
    [{ content: 'x', created: 5 }, 'created: '],
    [{ content: 'x', detail: 'x' }, 'detail: '],
    [{ content: 'x', isError: true }, 'unknown key "isError"'],
    [{ content: undefined }, 'content: expected text or JSON'],
    [{}, 'content: expected text or JSON'],
    [undefined, 'it is undefined'],
    ['just text', 'result: '],
    [null, 'result: '],
    [{ content: Number.NaN }, 'NaN is no JSON (at "content")'],
    [{ content: [Number.POSITIVE_INFINITY] }, 'Infinity is no JSON'],
    [{ content: { a: 10n } }, 'bigint is no JSON (at "a")'],
    [{ content: [undefined] }, 'undefined is no JSON'],
    [{ content: { go: () => 1 } }, 'function is no JSON (at "go")'],
    [{ content: circle }, 'leads in a circle'],
    [{ content: deep(200) }, 'nested deeper than 128'],
    [{ content: deep(100_000) }, 'nested too deep'],
    [{ content: thicket }, 'more than 1000000 values'],
  ])('%#: is the failure of the tool where it is no result', async (result, why) => {
    const { success, error } = await oddly(result)
    expect(success).toBe(false)
    expect(error).toEqual({ code: 'EXECUTION_FAILED', message: expect.stringContaining(why) })
    expect(error!.message).toContain('the tool ran, but what it returned is no result')
  })

  test('plain JSON is taken as JSON writes it', async () => {
    const at = new Date(0)
    const body = await oddly({ content: { at, none: undefined, list: [null] }, changed: ['a'], detail: { n: 1 } })
    expect(body).toMatchObject({ success: true, changed: ['a'], detail: { n: 1 } })
    expect(body.result).toEqual({ at: '1970-01-01T00:00:00.000Z', list: [null] })
  })
})

const refuse = (): never => {
  throw new Error('this member must not be read')
}
const sealed = (error: Error, member: string) => Object.defineProperty(error, member, { get: refuse })
const closed = (error: Error) => new Proxy(error, { get: refuse, has: refuse, getPrototypeOf: refuse })

describe('what a tool throws', () => {
  const thrown = (members: Partial<Record<keyof ToolFailure, unknown>>) =>
    Object.assign(new Error('broken'), { name: 'ToolError', ...members })
  test.each([
    [thrown({ code: 'NETWORK' }), 'NETWORK', 'broken'],
    [thrown({ code: 5 }), 'EXECUTION_FAILED', 'broken'],
    [thrown({ code: '' }), 'EXECUTION_FAILED', 'broken'],
    [thrown({ code: 'x'.repeat(9_000) }), 'EXECUTION_FAILED', 'broken'],
    [thrown({ code: 'CONFLICT', message: undefined }), 'CONFLICT', 'undefined'],
    [thrown({ code: 'TIMEOUT', transient: 'yes', beforeEffect: 1 }), 'TIMEOUT', 'broken'],
    [Object.create(null), 'EXECUTION_FAILED', 'it failed and cannot say how'],
    [null, 'EXECUTION_FAILED', 'null'],
    [sealed(new Error('x'), 'message'), 'EXECUTION_FAILED', 'it failed and cannot say how'],
    [sealed(thrown({}), 'code'), 'EXECUTION_FAILED', 'broken'],
    [sealed(thrown({ code: 'NETWORK' }), 'transient'), 'NETWORK', 'broken'],
    [closed(new Error('x')), 'EXECUTION_FAILED', 'it failed and cannot say how'],
  ])('%#: is a failure with a code and a message', async (error, code, message) => {
    expect((await oddly(error, true)).error).toEqual({ code, message })
  })
})

describe('what a provider answers', () => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
  const text = { type: 'text', text: 'x' }
  test.each([
    [{ usage: { ...usage, input: Number.NaN } }, 'usage.input'],
    [{ usage: { ...usage, output: -1 } }, 'usage.output'],
    [{ stopReason: 'tired' }, 'stopReason'],
    [{ content: 'x' }, 'content'],
    [{ content: [{ text: 'x' }] }, 'content.0.type'],
    [{ servedBy: 7 }, 'servedBy'],
    [{ content: [{ ...text, more: deep(200) }] }, 'nested deeper than 128'],
    [{ content: [{ ...text, more: Number.NaN }] }, 'is no JSON'],
    [{ content: [{ ...text, more: 1n }] }, 'is no JSON'],
  ])('%#: is a failed model call where it is no answer', async (answer, why) => {
    const run = await given({ says: [answer as never, completes()] })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'MODEL_FAILED', error: expect.stringContaining(why) })
    const [failed] = await run.of('error')
    expect(failed!.body).toMatchObject({ code: 'INVALID_RESPONSE', recoverable: true })
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('a whole page in an error is cut, where nothing secret is in it any more', async () => {
    const run = await given({ says: [new ModelError('INVALID_REQUEST', 'page '.repeat(1_000))] })
    expect(await run.drive()).toMatchObject({ end: 'error', code: 'MODEL_FAILED' })
    for (const { body } of await run.of('error')) expect(body.error).toMatch(/^.{600,620}…$/)
  })

  test('a thrown error that cannot be looked at is a failed model call', async () => {
    const run = await given({ says: [completes()] })
    const provider = () => ({ id: 'p', call: () => Promise.reject(closed(new Error('x'))) }) as never
    const drive = run.elsewhere({ provider }).drive(run.runId, { signal: new AbortController().signal })
    expect(await drive).toMatchObject({
      end: 'error',
      code: 'MODEL_FAILED',
      error: expect.stringContaining('cannot say'),
    })
  })

  test.each([Number.NaN, 'soon', -5])('a wait of %s is none', async (retryAfterMs) => {
    const busy = Object.assign(new ModelError('OVERLOADED', 'busy', { transient: true }), { retryAfterMs })
    const run = await given({ says: [busy, completes()] })
    expect(await run.drive()).toEqual({ end: 'done' })
  })
})

test('an event whose body is not of its shape is not recorded, whichever caller asks for it', async () => {
  const run = await given({ says: [completes()] })
  const before = await run.types()
  const refused = { code: 'APPEND_INVALID', message: expect.stringContaining('user_input is not of its shape') }
  await expect(run.say({ kind: 'input', text: 5 } as never)).rejects.toMatchObject(refused)
  expect(await run.types()).toEqual(before)
  expect(await run.drive()).toEqual({ end: 'done' })
})
