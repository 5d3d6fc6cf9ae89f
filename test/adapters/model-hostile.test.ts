import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MAX_WIRE_BYTES } from '../../adapters/models/read-answer.ts'
import { modelOutcome } from '../../domain/agent/events/model-outcome.ts'
import type { Block } from '../../domain/calls/content.ts'
import { callArguments, requestedCalls } from '../../domain/calls/requested-calls.ts'
import { byteLength } from '../../domain/calls/truncate.ts'
import { endless, pour, WIRES, type Wire } from '../support/hostile/wires.ts'
import { ask, failure, never, request } from '../support/models/model-request.ts'
import { beginStream, loopback } from '../support/network/loopback.ts'

// A hostile server costs no more than the bounds of one answer: each attack is cut off, its connection is closed, and what
// is kept is within the bounds. Work is counted in bytes and pieces, not in time.

const MIB = 1 << 20
/** The bytes that a server may have written into the buffers of both sides after the last read. */
const BUFFERED = 16 * MIB
/** A few bytes that unpack to more than an answer may have. */
const PACKED = gzipSync(Buffer.alloc(MAX_WIRE_BYTES + 1, '\n'))

/** A server that pours a stream over the client. `poured`: the bytes that it could write until it was let go of. */
async function hostile(wire: Wire, source: () => Iterable<string | Uint8Array>, headers = {}) {
  const poured = Promise.withResolvers<number>()
  const server = await loopback((res: ServerResponse) => {
    beginStream(res, headers)
    poured.resolve(pour(res, source()))
  })
  onTestFinished(() => server.close())
  const closed = async () => (await server.got[0]!.closed).complete
  return { provider: wire.connect(server.url), poured: poured.promise, closed }
}

const callsOf = (content: readonly Block[]) => content.filter(({ type }) => type === 'tool_use')

describe.each(Object.entries(WIRES))('%s', (_, wire) => {
  test('text that does not end is cut at 8 MiB', async () => {
    const { provider, poured, closed } = await hostile(wire, function* () {
      yield wire.head()
      yield* endless(wire.text('x'.repeat(4_000)))
    })
    const { content, cut, stopReason, usage, streamed } = await ask(provider)
    expect({ cut, stopReason }).toEqual({ cut: 'bytes', stopReason: 'max_tokens' })
    expect(content.length).toBe(1)
    const size = String(content[0]?.text).length
    expect(size).toBeGreaterThan(7.9 * MIB)
    expect(size).toBeLessThanOrEqual(8 * MIB)
    expect(streamed.length).toBe(size)
    expect(usage.output).toBeGreaterThanOrEqual(size / 4)
    expect(await poured).toBeLessThan(12 * MIB + BUFFERED)
    expect(await closed()).toBe(false)
  })

  test('pieces of one character are cut at a number of events, and are passed on in few pieces', async () => {
    const many = wire.text('x').repeat(500)
    const { provider, poured, closed } = await hostile(wire, function* () {
      yield wire.head()
      yield* endless(many)
    })
    let pieces = 0
    const outcome = await provider.call(request(), { signal: never(), onText: () => pieces++ })
    expect(outcome.cut).toBe('bytes')
    expect(String(outcome.content[0]?.text).length).toBeLessThanOrEqual(300_000)
    expect(pieces).toBeLessThan(30_000)
    expect(await poured).toBeLessThan(MAX_WIRE_BYTES + BUFFERED)
    expect(await closed()).toBe(false)
  })

  test.each([
    ['[', '['],
    ['a string', 'x'],
  ])('one event of %s that does not end is not held beyond 8 MiB', async (_, piece) => {
    const { provider, poured, closed } = await hostile(wire, function* () {
      yield `${wire.head()}data: `
      yield* endless(piece.repeat(65_536))
    })
    expect(await ask(provider)).toMatchObject({ cut: 'bytes' })
    expect(await poured).toBeLessThan(8 * MIB + BUFFERED)
    expect(await closed()).toBe(false)
  })

  test('an event that is nested too deeply, or holds too many values, is not parsed', async () => {
    for (const data of ['['.repeat(4 * MIB), `[${'1,'.repeat(200_000)}1]`]) {
      const { provider, closed } = await hostile(wire, function* () {
        yield `${wire.head()}${wire.text('Hello.')}data: ${data}\n\n`
        yield* endless(': more\n\n')
      })
      expect(await ask(provider)).toMatchObject({ cut: 'depth', content: [{ type: 'text', text: 'Hello.' }] })
      expect(await closed()).toBe(false)
    }
  })

  test('calls are cut after 128', async () => {
    const { provider, poured, closed } = await hostile(wire, function* () {
      yield wire.head()
      for (let n = 0; ; n++) yield wire.call(n, 'read_file', '{"path":"a"}')
    })
    const { content, cut } = await ask(provider)
    expect(cut).toBe('calls')
    expect(callsOf(content).length).toBe(128)
    expect(await poured).toBeLessThan(MIB + BUFFERED)
    expect(await closed()).toBe(false)
  })

  test.each([
    ['brackets', '['.repeat(65_536)],
    ['text', 'x'.repeat(65_536)],
    ['pieces of ten bytes', '[0,1,2,3,4'],
  ])('arguments of %s are kept to 1 MiB, and the rest of the answer is read', async (_, piece) => {
    const times = Math.ceil((1.5 * MIB) / piece.length)
    const { provider } = await hostile(wire, function* () {
      yield wire.head() + wire.call(0, 'read_file', '{"path":"')
      for (let n = 0; n < times; n += 100) yield wire.more(0, piece).repeat(Math.min(100, times - n))
      yield wire.end('tool_use')
    })
    const { content, cut, stopReason } = await ask(provider)
    expect({ cut, stopReason }).toEqual({ cut: undefined, stopReason: 'tool_use' })
    const [call] = callsOf(content)
    expect(byteLength(String(call?.input_text))).toBeLessThanOrEqual(MIB + 4)
    expect(requestedCalls(content)).toMatchObject([{ arguments: null, beyond: expect.stringContaining('1 MiB') }])
  })

  test.each([
    ['at 100 levels', 100, true],
    ['at 101 levels', 101, false],
    ['at 500,000 levels', 500_000, false],
  ])('arguments that are nested %s', async (_, depth, taken) => {
    const json = `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`.slice(0, MIB)
    const { provider } = await hostile(wire, () => [wire.head(), wire.call(0, 'f', json), wire.end('tool_use')])
    const [call] = requestedCalls((await ask(provider)).content)
    expect(call?.arguments !== null).toBe(taken)
    if (!taken) expect(call?.beyond).toContain('deeper than 100 levels')
  })

  test('a document in one piece has the same bounds', async () => {
    const json = { 'content-type': 'application/json' }
    const deep = await hostile(wire, () => [wire.document(`${'['.repeat(4 * MIB)}`)], json)
    expect(await ask(deep.provider)).toMatchObject({ cut: 'depth', content: [] })
    const long = await hostile(wire, () => endless('[1,2,3]'.repeat(9_000)), json)
    expect(await ask(long.provider)).toMatchObject({ cut: 'bytes', content: [] })
    expect(await long.poured).toBeLessThan(16 * MIB + BUFFERED)
    expect(await long.closed()).toBe(false)
  })

  test('a document of more than 8 MiB is cut, and the part before the cut is kept', async () => {
    const json = { 'content-type': 'application/json' }
    const text = await hostile(wire, () => [wire.texts('Hello.', 'x'.repeat(9 * MIB))], json)
    const { content, cut, stopReason } = modelOutcome(await ask(text.provider))
    expect({ cut, stopReason }).toEqual({ cut: 'bytes', stopReason: 'max_tokens' })
    expect(content).toMatchObject([{ text: 'Hello.' }, { type: 'text', text: expect.stringMatching(/^x{1000}/) }])
    const call = await hostile(wire, () => [wire.document(`{"a":"${'x'.repeat(9 * MIB)}"}`)], json)
    const kept = modelOutcome(await ask(call.provider))
    expect(requestedCalls(kept.content)).toMatchObject([{ name: 'f', beyond: expect.stringContaining('1 MiB') }])
  })

  test.each([
    ['as a document', 'application/json'],
    ['as a stream', 'text/event-stream'],
  ])('a few bytes that unpack to many are cut %s', async (_, type) => {
    const headers = { 'content-type': type, 'content-encoding': 'gzip' }
    const { provider } = await hostile(wire, () => [PACKED], headers)
    expect(await ask(provider)).toMatchObject({ cut: 'bytes', content: [] })
  })

  test('events that say nothing are cut', async () => {
    const { provider, poured } = await hostile(wire, () => endless(': keep-alive '.padEnd(60_000, '.').concat('\n\n')))
    expect(await ask(provider)).toMatchObject({ cut: 'bytes', content: [] })
    expect(await poured).toBeLessThan(MAX_WIRE_BYTES + BUFFERED)
  })

  test('an error page is read to 64 KiB, and one that is nested deeply is not handed on', async () => {
    for (const piece of ['x', '[', '{"error":']) {
      let poured = Promise.resolve(0)
      const server = await loopback((res) => {
        res.writeHead(503, { 'content-type': 'application/json' })
        poured = pour(res, endless(piece.repeat(4_096)))
      })
      onTestFinished(() => server.close())
      expect(await failure(wire.connect(server.url))).toMatchObject({ code: 'OVERLOADED', transient: true })
      expect(await poured).toBeLessThan(BUFFERED)
    }
  })

  test('headers that do not end are a failed connection', async () => {
    const server = await loopback((res) => void res.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end())
    onTestFinished(() => server.close())
    expect(await failure(wire.connect(server.url))).toMatchObject({ code: 'NETWORK', transient: true })
  })

  test('a page of another type is refused as a passing failure', async () => {
    const { provider, closed } = await hostile(wire, () => endless('<p>Sign in</p>'), { 'content-type': 'text/html' })
    expect(await failure(provider)).toMatchObject({
      code: 'INVALID_RESPONSE',
      transient: true,
      message: expect.stringContaining('text/html'),
    })
    expect(await closed()).toBe(false)
  })

  test('arguments with a number out of range stay text', async () => {
    const json = `{"n":1e999,"m":${'9'.repeat(100_000)}}`
    const { provider } = await hostile(wire, () => [wire.head(), wire.call(0, 'f', json), wire.end('tool_use')])
    expect(requestedCalls((await ask(provider)).content)).toMatchObject([{ arguments: null }])
  })

  test('a stream that drips ends with the time limit of its caller', async () => {
    const { provider, closed } = await hostile(wire, () => [wire.head(), wire.text('Hel')])
    const dripping = await loopback((res) => {
      beginStream(res)
      res.write(wire.head() + wire.text('Hel'))
    })
    onTestFinished(() => dripping.close())
    const stop = new AbortController()
    const late = new Error('no end within the limit')
    const onText = () => stop.abort(late)
    await expect(wire.connect(dripping.url).call(request(), { signal: stop.signal, onText })).rejects.toBe(late)
    expect((await dripping.got[0]!.closed).complete).toBe(false)
    await failure(provider)
    expect(await closed()).toBe(true)
  })

  test('a server that does not end after a whole answer is not waited for', async () => {
    const server = await loopback((res) => {
      beginStream(res)
      res.write(wire.head() + wire.text('Hello.') + wire.end('end_turn'))
    })
    onTestFinished(() => server.close())
    expect(await ask(wire.connect(server.url))).toMatchObject({ content: [{ text: 'Hello.' }], stopReason: 'end_turn' })
  })

  test.each([
    ['half of a surrogate pair', '{"path":"\\ud800"}'],
    ['NUL', '{"path":"a\\u0000b"}'],
    ['__proto__', '{"__proto__":{"path":"a"}}'],
  ])('arguments with %s reach the judge of arguments', async (_, json) => {
    const { provider } = await hostile(wire, () => [wire.head(), wire.call(0, 'f', json), wire.end('tool_use')])
    const { content } = await ask(provider)
    expect(callArguments(content.at(-1)!)).toEqual(JSON.parse(json))
  })
})
