import { describe, expect, test } from 'vitest'
import { bodyFault } from '../../../domain/agent/events/codec.ts'
import { findResult, resultAt } from '../../../domain/agent/runtime/history/results.ts'
import { readPart } from '../../../domain/agent/runtime/perform/read-part.ts'
import { UNTRUSTED } from '../../../domain/calls/untrusted.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { saltBody } from '../../../domain/log/seal.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { call, calls, completes, seededRandom, USER } from '../../support/harness.ts'
import { given, type Said, tool } from '../../support/story.ts'
import { long, looked, looking } from '../../support/whole-results.ts'

describe('read_result', () => {
  test('refuses by name a result that is enciphered, which the format allows', async () => {
    const run = await looked()
    const cipher = { alg: 'AES-256-GCM', keyId: 'k', nonce: 'n' }
    const body = { ...run.end.body, attachment: { ...run.attachment, cipher } }
    expect(bodyFault('tool_call_end', body)).toBeNull()
    const salted = saltBody(canonicalBytes(body as never), Buffer.alloc(16))
    const found = await findResult(run.ports as never, run.runId, run.end.toolCallId!)
    const { header } = (found as { end: RecordedEvent }).end
    const end = {
      ...(found as { end: RecordedEvent }).end,
      header: { ...header, body: salted.header },
      body: salted.bytes,
    }
    await expect(resultAt(run.ports as never, end)).rejects.toMatchObject({
      code: 'UNKNOWN_EVENT',
      message: expect.stringContaining('enciphered with AES-256-GCM'),
    })
  })

  test('proves a result once, and then reads no more than the parts that are asked for', async () => {
    const run = await looked()
    const id = run.end.toolCallId!
    const read = { events: 0, bytes: 0 }
    const log = Object.create(run.log) as EventLog
    log.read = async function* (...asked) {
      for await (const page of run.log.read(...asked)) {
        read.events += page.length
        yield page
      }
    }
    const part = async (runId: string, hash: string, from: number, length: number) => {
      const bytes = (await run.blobs.get(runId, hash)).subarray(from, from + length)
      read.bytes += bytes.length
      return bytes
    }
    const blobs = Object.assign(Object.create(run.blobs), { part })
    const state = await run.state()
    const next = async (from: number) =>
      (await readPart({ log, blobs }, state, { toolCallId: id, from, length: 1_000 })).text
    expect(await next(0)).toContain('line 0')
    expect(read.bytes).toBeGreaterThan(long.length)
    Object.assign(read, { events: 0, bytes: 0 })
    for (let n = 1; n <= 10; n++) expect(await next(n * 1_000)).toContain(`[bytes ${n * 1_000} to`)
    expect(read).toEqual({ events: 10, bytes: 10_000 })
    await run.runtime.execute(run.runId, { kind: 'erase', reason: 'x', revision: run.end.revision }, { by: USER })
    await expect(next(0)).rejects.toThrow('was erased')
  })

  const read =
    (more: object): Said =>
    (request) => {
      const toolCallId = /toolCallId \\"([^"\\]+)/.exec(JSON.stringify(request.messages))![1]!
      return calls(call('read_result', { toolCallId, ...more }))
    }
  const shown = (run: Awaited<ReturnType<typeof looking>>, n: number) => {
    const message = run.seen(n).at(-1)
    return message?.role === 'tool' ? message.content : ''
  }

  test('reads on from where the shown part ends, to the end', async () => {
    let text = ''
    const more: Said = (request) => {
      const [content] = request.messages.flatMap((m) => (m.role === 'tool' ? [m.content] : [])).slice(-1)
      const at = content!.lastIndexOf('\n[bytes')
      const note = /read_result with toolCallId "(.+?)" and from (\d+)/.exec(content!)
      text += at < 0 ? content!.slice(0, content!.indexOf('\n[…')) : content!.slice(0, at)
      if (note === null) return completes()
      return calls(call('read_result', { toolCallId: note[1]!, from: Number(note[2]) }))
    }
    const run = await given({
      says: [calls(call('look')), more],
      tools: [tool('look', {}, () => 'é€😀 line\n'.repeat(8_000))],
      spec: { readsOn: true },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(text).toBe('é€😀 line\n'.repeat(8_000))
    expect(new Set(await run.ends())).toEqual(new Set(['look: ok', 'read_result: ok', 'complete_task: ok']))
  })

  test('shows a part with its place, never half a character', async () => {
    const run = await looked([read({ from: 1, length: 10 }), read({ from: 7, length: 4 })], () => 'é'.repeat(50_000))
    expect(shown(run, 2)).toMatch(/^éééé\n\[bytes 2 to 10 of 100000; to read on, .* and from 10\]$/)
    expect(shown(run, 3)).toMatch(/^é\n\[bytes 8 to 10 of/)
  })

  test.each([
    ['web', true],
    ['mcp', false],
  ])('keeps the mark of an untrusted result: %s', async (source, noticed) => {
    const whole = 'words of a stranger\n'.repeat(5_000)
    const result = () => ({ content: 'words', whole, detail: { untrusted: source } })
    const first = await looked([], result)
    const run = await looked([calls(call('read_result', { toolCallId: first.end.toolCallId!, length: 100 }))], result)
    const end = (await run.of('tool_call_end'))[1]
    expect(end?.body.detail).toEqual({ untrusted: source })
    const text = expect.stringContaining('words of a stranger')
    expect(end?.body.result).toEqual(noticed ? { notice: UNTRUSTED, text } : text)
  })

  test('tells what it cannot read: no such call, a place beyond the end, what is altered', async () => {
    const says = [read({ toolCallId: 'x.t1.c9' }), read({ toolCallId: 'nothing' }), read({ from: 1e9 })]
    const run = await looked(says)
    const codes = ['RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND', 'INVALID_ARGUMENTS']
    expect((await run.ends()).slice(1, 4)).toEqual(codes.map((code) => `read_result: ${code}`))
    const altered: Said = (request, n) => {
      for (const [key, bytes] of other.blobs.held) other.blobs.held.set(key, Buffer.from(bytes).fill(0, 9, 10))
      return (read({}) as (...all: unknown[]) => object)(request, n)
    }
    const other = await looking([altered])
    await other.drive()
    expect((await other.ends())[1]).toBe('read_result: EXECUTION_FAILED')
    expect(await other.message(1)).toContain('altered')
  })

  test('reads in a fork what its source was told before the fork, and in no other run', async () => {
    const source = await looked([completes()])
    const stranger = source.call(1)
    const { runId: fork } = await source.runtime.fork(source.runId, { turn: 1 }, {}, { by: USER })
    const script: Said[] = [calls(call('read_result', { toolCallId: stranger })), completes()]
    const provider = () => ({
      id: 'test',
      call: async () => ({
        ...{ stopReason: 'tool_use' as const, servedBy: 'test-model', content: [] },
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
        ...(script.shift() as object),
      }),
    })
    const { signal } = new AbortController()
    expect(await source.elsewhere({ provider }).drive(fork, { signal })).toEqual({ end: 'done' })
    const { messages } = await source.runtime.at(fork, null)
    expect(JSON.stringify(messages)).toContain('[bytes 0 to 30208 of')

    const other = await looking([calls(call('read_result', { toolCallId: stranger }))], () => 'short', {
      log: source.log,
      random: seededRandom('other'),
    })
    await other.drive()
    expect((await other.ends())[1]).toBe('read_result: RESOURCE_NOT_FOUND')
  })

  test('is offered to runs without a role, and in phases that have tools; a policy may deny it', async () => {
    const phase = (name: string, allowedTools: string[]) => ({ name, allowedTools })
    const role = (tools: string[]) => ({
      ...{ name: 'mine', profile: 'p', goal: 'g', qualityGates: [], maxReactLoop: 5 },
      phases: [phase('one', tools)],
    })
    const offered = async (spec: object) => {
      const run = await given({ says: [completes()], tools: [tool('look')], spec: { readsOn: true, ...spec } })
      await run.drive()
      return run.offered(0)
    }
    expect(await offered({})).toContain('read_result')
    expect(await offered({ role: role(['look']) })).toContain('read_result')
    expect(await offered({ role: role([]) })).not.toContain('read_result')
    expect(await offered({ policy: { deniedTools: ['read_result'] } })).not.toContain('read_result')
  })
})
