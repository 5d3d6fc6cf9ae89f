import { describe, expect, test } from 'vitest'
import { ToolError } from '../../domain/calls/errors.ts'
import { byteLength, RESULT_BYTES } from '../../domain/calls/truncate.ts'
import { unsalted } from '../../domain/log/seal.ts'
import { call, calls, completes } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i}\n`).join('')

async function told(does: () => unknown, spec = {}) {
  const run = await given({
    says: [calls(call('mine')), completes()],
    tools: [tool('mine', {}, does)],
    spec: { readsOn: true, ...spec },
  })
  expect(await run.drive()).toEqual({ end: 'done' })
  const message = run.seen(1).at(-1)
  return { run, content: message?.role === 'tool' ? message.content : '', size: JSON.stringify(message).length }
}

/** The whole result of the first call as the blob store holds it, and what its event says of it. */
async function wholeResult(run: Awaited<ReturnType<typeof given>>) {
  const [end] = await run.of('tool_call_end')
  const header = end!.body.attachment!
  return { header, whole: Buffer.from(unsalted(await run.ports.blobs.get(run.runId, header.hash))).toString() }
}

describe('5.11: a result that is too long for the model', () => {
  test('is shown with head, tail, size and how to read on; the whole is stored', async () => {
    const text = lines(50_000)
    const { run, content } = await told(() => text)
    expect(byteLength(content)).toBeLessThan(RESULT_BYTES + 512)
    expect(content).toMatch(/^line 0\n/)
    expect(content).toMatch(/line 49999\n$/)
    const note = `to read on, call read_result with toolCallId "${run.call(1)}" and from \\d+`
    expect(content).toMatch(new RegExp(`\\[… \\d+ of ${text.length} bytes left out; ${note} …\\]`))
    const { header, whole } = await wholeResult(run)
    expect(whole).toBe(text)
    expect(header.size).toBe(text.length)
    expect(text.startsWith(header.head) && text.endsWith(header.tail)).toBe(true)
    expect((await run.of('tool_call_end'))[0]?.size).toBeLessThan(64 * 1024)
  })

  test('of up to 64 KiB is stored in its event', async () => {
    const text = lines(5_000)
    const { run, content } = await told(() => text)
    expect(content).toContain(`call read_result with toolCallId "${run.call(1)}"`)
    const [end] = await run.of('tool_call_end')
    expect([end?.body.result, end?.body.attachment]).toEqual([text, undefined])
  })

  test('may be JSON, or the message of a failure', async () => {
    const { content } = await told(() => ({ rows: Array.from({ length: 20_000 }, (_, i) => i) }))
    expect(content).toMatch(/^\{"rows":\[0,1,2,.*left out.*19999\]\}$/s)
    const failed = await told(() => {
      throw new ToolError('EXECUTION_FAILED', `no: ${'x'.repeat(100_000)}`)
    })
    expect(failed.content).toMatch(/^EXECUTION_FAILED: no: x/)
    expect(byteLength(failed.content)).toBeLessThan(RESULT_BYTES + 512)
  })

  test('is no longer than what tools cut by themselves: JSON that is escaped is counted as it was', async () => {
    const stdout = lines(3_500).slice(0, RESULT_BYTES - 2_048)
    const { content } = await told(() => ({ exitCode: 0, stdout }))
    expect(JSON.parse(content)).toEqual({ exitCode: 0, stdout })
  })

  test('takes no more of the context, nor of the budget, than what is shown of it', async () => {
    const { run } = await told(() => 'x'.repeat(500_000), { budget: { tokens: 60_000, nanoDollars: null } })
    const [, second] = await run.of('model_call_start')
    expect(second?.body.estimate.input).toBeLessThan(15_000)
  })
})
