import { describe, expect, it, test } from 'vitest'
import { OtlpBudget, OtlpTooLarge } from '../../adapters/otlp/budget.ts'
import { jsonSpans as jsonSteps } from '../../adapters/otlp/json.ts'
import { protobufSpans as protobufSteps } from '../../adapters/otlp/protobuf.ts'
import { bytesField } from '../../adapters/otlp/wire.ts'
import { type DecodedSpans, TOO_DEEP } from '../../domain/external/reported/otlp-span.ts'

const [MANY_SPANS, MANY_VALUES] = [4, 31]
const budget = () => new OtlpBudget({ spans: 3, values: 30 })

/** Takes all steps. */
function whole(steps: Generator<undefined, DecodedSpans>): DecodedSpans {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
const jsonSpans = (value: unknown, most?: OtlpBudget) => whole(jsonSteps(value, most))
const protobufSpans = (bytes: Uint8Array, most?: OtlpBudget) => whole(protobufSteps(bytes, most))

const request = (...spans: readonly unknown[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
const IDS = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
const ids = Buffer.concat([bytesField(1, Buffer.alloc(16, 1)), bytesField(2, Buffer.alloc(8, 1))])
/** A protobuf request whose only resource has one scope with these fields. */
const scoped = (fields: Uint8Array) => bytesField(1, bytesField(2, fields))
/** `count` empty fields, two bytes each. */
const empty = (number: number, count: number) => Buffer.alloc(count * 2, Buffer.from([(number << 3) | 2, 0]))

describe('a small request cannot take much memory:', () => {
  test.each([
    ['spans', request(...Array(MANY_SPANS).fill({}))],
    ['resources', { resourceSpans: Array(MANY_VALUES).fill({}) }],
    ['attributes', request({ ...IDS, attributes: Array(MANY_VALUES).fill({}) })],
    ['events', request({ ...IDS, events: Array(MANY_VALUES).fill({}) })],
    [
      'entries of a list',
      request({ ...IDS, attributes: [{ key: 'k', value: { arrayValue: { values: Array(MANY_VALUES).fill({}) } } }] }),
    ],
  ])('too many %s in JSON are refused', (_, value) => expect(() => jsonSpans(value, budget())).toThrow(OtlpTooLarge))

  const list = bytesField(2, bytesField(5, empty(1, MANY_VALUES)))
  test.each([
    ['spans', scoped(empty(2, MANY_SPANS))],
    ['resources', empty(1, MANY_VALUES)],
    ['attributes', scoped(bytesField(2, Buffer.concat([ids, empty(9, MANY_VALUES)])))],
    ['events', scoped(bytesField(2, Buffer.concat([ids, empty(11, MANY_VALUES)])))],
    ['entries of a list', scoped(bytesField(2, Buffer.concat([ids, bytesField(9, list)])))],
    ['unknown fields', empty(15, MANY_VALUES)],
  ])('too many %s in Protocol Buffers are refused', (_, bytes) =>
    expect(() => protobufSpans(bytes, budget())).toThrow(OtlpTooLarge),
  )
})

test('each span is decoded in a step of its own', () => {
  const spans = [1, 2, 3].map((n) => ({ ...IDS, spanId: `${n}`.repeat(16) }))
  const message = Buffer.concat(spans.map(() => bytesField(2, ids)))
  expect([...jsonSteps(request(...spans))]).toHaveLength(3)
  expect([...protobufSteps(scoped(message))]).toHaveLength(3)
})

describe('a value', () => {
  /** Lists or maps in each other, `depth` of them, around a text. */
  const json = (kind: 'arrayValue' | 'kvlistValue', depth: number): unknown =>
    depth === 0
      ? { stringValue: 'end' }
      : {
          [kind]: {
            values: [kind === 'arrayValue' ? json(kind, depth - 1) : { key: 'k', value: json(kind, depth - 1) }],
          },
        }
  const protobuf = (kind: 'arrayValue' | 'kvlistValue', depth: number): Uint8Array => {
    if (depth === 0) return bytesField(1, Buffer.from('end'))
    const inner = protobuf(kind, depth - 1)
    if (kind === 'arrayValue') return bytesField(5, bytesField(1, inner))
    return bytesField(6, bytesField(1, Buffer.concat([bytesField(1, Buffer.from('k')), bytesField(2, inner)])))
  }
  const inProtobuf = (value: Uint8Array) => bytesField(2, Buffer.concat([ids, bytesField(9, bytesField(2, value))]))

  test.each([
    ['arrayValue', 16, 'end'],
    ['arrayValue', 17, TOO_DEEP],
    ['kvlistValue', 16, 'end'],
    ['kvlistValue', 17, TOO_DEEP],
  ] as const)('in %s, %s deep, ends with %s in both encodings', (kind, depth, end) => {
    const given = request({ ...IDS, attributes: [{ key: '', value: json(kind, depth) }] })
    const read = [jsonSpans(given), protobufSpans(scoped(inProtobuf(protobuf(kind, depth))))]
    const [text, same] = read.map(({ spans }) => JSON.stringify(spans[0]!.attributes['']))
    expect(text).toBe(same)
    expect(/"([^"]*)"[\]}]*$/.exec(text!)?.[1]).toBe(end)
    expect(text!.match(kind === 'arrayValue' ? /\[/g : /\{/g)).toHaveLength(16)
  })
})

describe('JSON', () => {
  const attribute = (value: unknown) =>
    jsonSpans(request({ ...IDS, attributes: [{ key: 'k', value }] })).spans[0]?.attributes.k

  test.each([
    ['whole number', { doubleValue: 2 }, 2],
    ['text', { doubleValue: '-Infinity' }, '-Infinity'],
    ['null', { doubleValue: null }, null],
    ['object', { doubleValue: { valueOf: 1 } }, null],
    ['empty text', { doubleValue: ' ' }, null],
    ['large integer', { intValue: 2 ** 60 }, String(2n ** 60n)],
    ['object in place of an integer', { intValue: {} }, null],
  ])('has a value that is a %s', (_, value, expected) => expect(attribute(value)).toBe(expected))

  it('takes nanoseconds as text and as a number, which no double below 2^53 represents', () => {
    for (const startTimeUnixNano of ['1790000000000000000', 1_790_000_000_000_000_000])
      expect(jsonSpans(request({ ...IDS, startTimeUnixNano })).spans[0]?.startNano).toBe(1_790_000_000_000_000_000n)
  })

  it('refuses an odd span alone, and says why', () => {
    const odd = [
      { ...IDS, startTimeUnixNano: 'noon' },
      { ...IDS, startTimeUnixNano: -1 },
      { ...IDS, startTimeUnixNano: 1.5 },
      { ...IDS, flags: { valueOf: 1 } },
      { ...IDS, attributes: 3 },
      { ...IDS, attributes: [{ key: 'k', value: { kvlistValue: 3 } }] },
      { ...IDS, events: [{ name: 4 }] },
      { ...IDS, spanId: 'b' },
      null,
    ]
    const { spans, faults } = jsonSpans(request(...odd, IDS))
    expect([spans.length, faults.length]).toEqual([1, odd.length])
    expect(faults).toEqual(odd.map(() => expect.stringMatching(/\S/)))
  })

  it('without a list of spans is no request', () => {
    expect(() => jsonSpans({ resourceSpans: [{ scopeSpans: 3 }] })).toThrow(/scopeSpans/)
  })
})
