import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/log-memory/log.ts'
import { openBoundary } from '../../api/host/boundary.ts'
import { attachmentOf } from '../../domain/agent/events/attachment.ts'
import { bodyFault } from '../../domain/agent/events/codec.ts'
import { canonicalBytes } from '../../domain/log/canonical.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { ConflictError, LogError } from '../../domain/log/errors.ts'
import { saltBody } from '../../domain/log/seal.ts'
import type { EventLog } from '../../domain/ports.ts'
import { sweepBlobs } from '../../domain/runtime/blob-writes.ts'
import { findResult, resultAt } from '../../domain/runtime/history/results.ts'
import { readResult } from '../../domain/runtime/perform/read-result.ts'
import { call, calls, completes, MemoryBlobs, MemoryIntents, seededRandom, testSpec, USER } from '../support/harness.ts'
import { memoryVault } from '../support/memory-vault.ts'
import { given, type Said, tool } from '../support/story.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const long = Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`).join('')

/** A run whose first call has a long result. `ports` go beside the stores. */
function looking(says: readonly Said[] = [], does: () => unknown = () => long, ports: object = {}) {
  const stores = { blobs: new MemoryBlobs(), intents: new MemoryIntents() }
  const story = given({
    says: [calls(call('look')), ...says, completes()],
    tools: [{ ...tool('look'), run: async () => wholeOr(does()) }],
    spec: { readsOn: true },
    ports: { ...stores, ...ports },
  })
  return story.then((run) => ({ ...run, ...stores }))
}
const wholeOr = (made: unknown): never =>
  (made !== null && typeof made === 'object' && 'content' in made ? made : { content: made }) as never

async function looked(...asked: Parameters<typeof looking>) {
  const run = await looking(...asked)
  expect(await run.drive()).toEqual({ end: 'done' })
  const [end] = await run.of('tool_call_end')
  const attachment = attachmentOf(end!)!
  return { ...run, end: end!, attachment, address: `${run.runId}/${attachment?.hash}` }
}

const heldText = (blobs: MemoryBlobs) => [...blobs.held.values()].map((bytes) => Buffer.from(bytes).toString())

describe('a whole result', () => {
  test('is proved with its event: an altered or missing one is told', async () => {
    const run = await looked()
    expect(await run.runtime.verify(run.runId)).toMatchObject({ ok: true, problems: [] })
    const bytes = Buffer.from(run.blobs.held.get(run.address)!)
    bytes[70_000]! ^= 1
    run.blobs.held.set(run.address, bytes)
    const problem = { revision: run.end.revision, code: 'BLOB' }
    expect((await run.runtime.verify(run.runId)).problems).toEqual([expect.objectContaining(problem)])
    run.blobs.held.delete(run.address)
    const { problems } = await run.runtime.verify(run.runId)
    expect(problems).toEqual([expect.objectContaining({ ...problem, message: expect.stringContaining('missing') })])
  })

  test('is needed by no fold', async () => {
    const run = await looked()
    run.blobs.held.clear()
    expect((await run.elsewhere().at(run.runId, null)).state.machine.status).toBe('DONE')
  })

  test('goes with its event, of which nothing is left then', async () => {
    const run = await looked()
    const erase = { kind: 'erase', reason: 'asked for', revision: run.end.revision } as const
    await run.runtime.execute(run.runId, erase, { by: USER })
    expect(run.blobs.held.size).toBe(0)
    expect(await run.intents.left()).toEqual([])
    expect(JSON.stringify(await run.events())).not.toContain(run.attachment.hash)
    expect(await run.runtime.verify(run.runId)).toMatchObject({ ok: true, problems: [] })
  })

  test.each(['after_blobs', 'after_append'] as const)(
    'of a process that died %s stays only if the log names it',
    async (at) => {
      const never = new Promise<void>(() => undefined)
      const dead = Promise.withResolvers<void>()
      let blobs: MemoryBlobs | null = null
      const crashPoint = async (name: string) => {
        if (name !== at || blobs?.held.size !== 1) return
        dead.resolve()
        await never
      }
      const run = await looking([], () => long, { crashPoint })
      blobs = run.blobs
      run.drive().catch(() => undefined)
      await dead.promise
      expect(await sweepBlobs({ log: run.log, blobs: run.blobs, intents: run.intents })).toBe(
        at === 'after_blobs' ? 1 : 0,
      )
      expect(heldText(run.blobs)).toEqual(at === 'after_blobs' ? [] : [long])
      expect(await run.intents.left()).toEqual([])
    },
  )

  test('that the log names stays where its note was not taken back', async () => {
    const intents = Object.assign(new MemoryIntents(), { end: async () => undefined })
    const run = await looked([], () => long, { intents })
    expect((await intents.left()).map(({ hash }) => hash)).toContain(run.attachment.hash)
    expect(await sweepBlobs({ log: run.log, blobs: run.blobs, intents })).toBe(0)
    expect(heldText(run.blobs)).toEqual([long])
  })

  test.each([
    ['is damaged', (event: RecordedEvent) => ({ ...event, body: Buffer.from('{}') })],
    ['is of a newer version', ({ header, ...rest }: RecordedEvent) => ({ ...rest, header: { ...header, version: 2 } })],
    ['is of a newer type', ({ header, ...rest }: RecordedEvent) => ({ ...rest, header: { ...header, type: 'new' } })],
  ])('stays where the event that may name it %s, and the start goes on', async (_, change) => {
    const run = await looked([], () => long, {
      intents: Object.assign(new MemoryIntents(), { end: async () => undefined }),
    })
    const lost = { stream: 'agent-other', runId: 'other', hash: 'x' }
    await run.ports.intents!.begin([lost])
    await run.blobs.put(lost.runId, lost.hash, Buffer.from('x'))
    const log = Object.create(run.log) as EventLog
    log.read = async function* (...asked) {
      for await (const page of run.log.read(...asked))
        yield page.map((event) => (event.header.type === 'tool_call_end' ? change(event) : event))
    }
    const warned: string[] = []
    const ports = { log, blobs: run.blobs, intents: run.ports.intents! }
    expect(await sweepBlobs(ports, (text) => warned.push(text))).toBe(1)
    expect(heldText(run.blobs)).toEqual([long])
    expect(warned).toEqual([expect.stringContaining(run.attachment && `agent-${run.runId}`)])
  })

  test('stays where its append is refused, since an earlier one may have named it', async () => {
    const log = new MemoryLog()
    const append = log.append.bind(log)
    let refused = 0
    log.append = async (stream, expected, batch) => {
      if (batch.some(({ header }) => header.type === 'tool_call_end') && refused++ === 0)
        throw new ConflictError(stream, expected, expected + 1)
      return append(stream, expected, batch)
    }
    const blobs = new MemoryBlobs()
    const deleted: string[] = []
    blobs.delete = async (runId, hash) => void deleted.push(`${runId}/${hash}`)
    const run = await looking([], () => long, { log, blobs })
    await run.drive()
    expect(refused).toBeGreaterThan(0)
    expect(heldText(blobs)).toEqual([long])
    expect(deleted).toEqual([])
  })

  test('of a process that died while it erased goes at the next start', async () => {
    const run = await looked()
    const blobs = Object.assign(Object.create(run.blobs), {
      delete: () => Promise.reject(new LogError('LOG_UNAVAILABLE', 'x')),
    })
    const erase = { kind: 'erase', reason: 'asked for', revision: run.end.revision } as const
    await expect(run.elsewhere({ blobs }).execute(run.runId, erase, { by: USER })).rejects.toThrow('x')
    expect(run.blobs.held.size).toBe(1)
    expect(await sweepBlobs({ log: run.log, blobs: run.blobs, intents: run.intents })).toBe(1)
    expect(run.blobs.held.size).toBe(0)
  })

  test('may be given by the tool in pieces, beside what is shown of it', async () => {
    const pieces = [
      Buffer.from('é'.repeat(50_000)).subarray(0, 50_001),
      Buffer.from('é'.repeat(50_000)).subarray(50_001),
    ]
    const run = await looked([], () => ({ content: { shown: 'a part' }, whole: pieces }))
    expect(run.end.body.result).toEqual({ shown: 'a part' })
    expect(heldText(run.blobs)).toEqual(['é'.repeat(50_000)])
    const wrong = await looking([], () => ({ content: '', whole: 7 }))
    await wrong.drive()
    expect(await wrong.message()).toContain('result.whole')
  })

  test('holds no secret, wherever it is cut, nor a value under the name of one where it is JSON', async () => {
    const secret = 'hunter2-is-not-in-the-log'
    const boundary = (await openBoundary(memoryVault({ PASSWORD: secret }), [], testSpec())).secrets
    const environment = async () => ({
      ...{ workspace: null, sandbox: null, secrets: boundary },
      reap: async () => undefined,
      close: async () => undefined,
    })
    const around = 'x'.repeat(256 * 1024 - 10)
    const plain = await looked([], () => `${around}${secret}${around}${secret}`, { environment })
    expect(
      heldText(plain.blobs)
        .join()
        .match(/secret:ku_/g),
    ).toHaveLength(2)
    expect(heldText(plain.blobs).join()).not.toContain('hunter2')
    const json = JSON.stringify([{ around, password: 'only-here' }, around])
    const run = await looked([], () => json, { environment })
    expect(heldText(run.blobs).join()).not.toContain('only-here')
    expect(JSON.parse(heldText(run.blobs)[0]!)[0].password).toMatch(/^secret:ku_/)
  })

  test('of more than 64 MiB is kept as head and tail, and gives way to others meanwhile', async () => {
    const line = `${'a long line of output '.repeat(46)}\n`
    const whole = line.repeat(Math.ceil((66 * 1024 * 1024) / line.length))
    let turns = 0
    const clock = Object.assign(new VirtualClock(), { giveWay: async () => void turns++ })
    const run = await looked([], () => whole, { clock })
    expect(turns).toBeGreaterThan(2)
    expect(run.attachment.size).toBeGreaterThan(64 * 1024 * 1024)
    expect(run.attachment.size).toBeLessThan(64 * 1024 * 1024 + 128)
    const text = Buffer.from(run.blobs.held.get(run.address)!)
    expect(text.subarray(32 * 1024 * 1024 - 100, 32 * 1024 * 1024 + 200).toString()).toContain(
      `of ${whole.length} bytes left out`,
    )
  })
})

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
    const next = (from: number) => readResult({ log, blobs }, run.runId, { toolCallId: id, from, length: 1_000 })
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
