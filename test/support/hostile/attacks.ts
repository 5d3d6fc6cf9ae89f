import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { beginStream } from '../network/loopback.ts'
import { endless, pour, type Wire } from './wires.ts'

/** An answer that costs its client as much as possible. */
export type Attack = (wire: Wire, res: ServerResponse) => Promise<number>

const MIB = 1 << 20
const stream =
  (source: (wire: Wire) => Iterable<string | Uint8Array>, headers: Record<string, string> = {}): Attack =>
  (wire, res) => {
    beginStream(res, headers)
    return pour(res, source(wire))
  }

/** Arguments of 1 MiB each, up to the limit of an answer. */
const largest = (json: string) =>
  stream(function* (wire) {
    yield wire.head()
    for (let n = 0; n < 7; n++) yield wire.call(n, 'write_file', json)
    yield wire.end('tool_use')
  })

const packed = gzipSync(Buffer.alloc(100 * MIB, ' '))

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'text without end': stream(function* (wire) {
    yield wire.head()
    yield* endless(wire.text('x'.repeat(16_000)))
  }),
  'text in pieces of ten bytes': stream(function* (wire) {
    yield wire.head()
    yield* endless(wire.text('0123456789').repeat(100))
  }),
  'one event of 12 MiB of brackets': stream((wire) => [wire.head(), 'data: ', '['.repeat(12 * MIB), '\n\n']),
  'arguments of 12 MiB of brackets': stream((wire) => [
    wire.head(),
    wire.call(0, 'write_file', ...Array<string>(12).fill('['.repeat(MIB))),
    wire.end('tool_use'),
  ]),
  'arguments of 60 MB in pieces of ten bytes': stream(function* (wire) {
    yield wire.head() + wire.call(0, 'write_file', '{"path":"')
    for (let n = 0; n < 6_000; n++) yield wire.more(0, 'aaaaaaaaaa').repeat(1_000)
    yield wire.end('tool_use')
  }),
  '200,000 calls': stream(function* (wire) {
    yield wire.head()
    for (let n = 0; n < 200_000; n++) yield wire.call(n, 'read_file', '{"path":"a"}')
    yield wire.end('tool_use')
  }),
  'the most calls': stream(function* (wire) {
    yield wire.head()
    for (let n = 0; n < 128; n++) yield wire.call(n, 'read_file', '{"path":"a"}')
    yield wire.end('tool_use')
  }),
  'the longest text': stream(function* (wire) {
    yield wire.head()
    for (let n = 0; n < 120; n++) yield wire.text('Some words of text. '.repeat(3_276))
    yield wire.end('end_turn')
  }),
  'the most secrets': stream(function* (wire) {
    yield wire.head()
    for (let n = 0; n < 120; n++) yield wire.text('://a:bcd@'.repeat(7_281))
    yield wire.end('end_turn')
  }),
  'the longest arguments of text': largest(JSON.stringify({ path: 'a', content: 'word '.repeat(200_000) })),
  'the longest arguments of quotes': largest(JSON.stringify({ path: 'a', content: '"\\'.repeat(250_000) })),
  'the most values': largest(JSON.stringify({ path: Array(500_000).fill(1) })),
  'the most values that are taken': stream((wire) => [
    wire.head(),
    wire.call(
      0,
      'write_file',
      JSON.stringify(Object.fromEntries(Array.from({ length: 19_000 }, (_, i) => [`k${i}`, i]))),
    ),
    wire.end('tool_use'),
  ]),
  'arguments that are nested deeply': stream((wire) => [
    wire.head(),
    wire.call(0, 'write_file', `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`),
    wire.end('tool_use'),
  ]),
  'characters that are none': stream((wire) => [
    wire.head(),
    wire.call(0, 'read_file', '{"path":"\\ud800\\u0000","__proto__":{"a":1}}'),
    wire.end('tool_use'),
  ]),
  'lines that say nothing': stream(() => endless('\n'.repeat(65_536))),
  'a few bytes that unpack to many': stream(() => [packed], { 'content-encoding': 'gzip' }),
  'a document of brackets': stream((wire) => [wire.document('['.repeat(12 * MIB))], {
    'content-type': 'application/json',
  }),
  'a page': stream(() => endless('<p>Sign in</p>'.repeat(1_000)), { 'content-type': 'text/html' }),
  'an error page without end': (_, res) => {
    res.writeHead(500, { 'content-type': 'application/json', 'retry-after': '0' })
    return pour(res, endless('['.repeat(65_536)))
  },
  'a broken stream': async (wire, res) => {
    beginStream(res)
    res.write(wire.head() + wire.text('Half'))
    res.destroy()
    return 0
  },
}
