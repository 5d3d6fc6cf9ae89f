import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FOREIGN, SseReader } from '../../adapters/web/sse-reader.ts'

const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }
const utf8 = new TextEncoder()

const BOUNDS = { event: 1_000, lines: 100 }
const FIELDS = fc.constantFrom(
  '',
  ':',
  ': é',
  'data',
  'data: {"x":',
  'data:1',
  'data:  ü',
  'event: a',
  'id: 1',
  'id',
  'x: y',
)
const ENDS = fc.constantFrom('\n', '\r\n', '\r')

describe('a stream of server-sent events', () => {
  it('gives its events, and positions without an event', () => {
    const text = ': hi\n\nid: 1\nevent: a\ndata: {"x":\ndata: 1}\n\nid: 2\n\r\nevent: b\n\ndata:  z\r\n\r\ndata: open\n'
    expect(new SseReader().push(utf8.encode(text))).toEqual([
      { id: '1', name: 'a', data: '{"x":\n1}' },
      { id: '2', name: '', data: null },
      { id: null, name: '', data: ' z' },
    ])
  })

  it('is the same for every cut of its bytes and every line end', () => {
    fc.assert(
      fc.property(fc.array(FIELDS, { maxLength: 20 }), fc.array(fc.tuple(fc.nat(200), ENDS)), (lines, cuts) => {
        const text = `${lines.map((line, i) => line + (cuts[i]?.[1] ?? '\n')).join('')}data: z\n\n`
        const bytes = utf8.encode(text)
        const whole = new SseReader().push(utf8.encode(text.replaceAll(/\r\n?/g, '\n')))
        const read = (places: number[]) => {
          const reader = new SseReader()
          return places.slice(1).flatMap((to, i) => reader.push(bytes.subarray(places[i], to)))
        }
        const some = cuts.map(([at]) => Math.min(at, bytes.length)).sort((a, b) => a - b)
        expect(read([0, ...some, bytes.length])).toEqual(whole)
        expect(read([...bytes.keys(), bytes.length])).toEqual(whole)
      }),
      seed,
    )
  })

  it.each([
    ['an event in one piece', [`data: ${'x'.repeat(BOUNDS.event + 1)}\n\n`]],
    ['a line without an end', Array(20).fill('data: '.padEnd(99, 'x'))],
    ['an event without an end', Array(20).fill(`${'data: '.padEnd(99, 'x')}\n`)],
    ['many short events', Array(51).fill('data: x\n\n')],
    ['lines that say nothing', ['\r'.repeat(101)]],
  ])('is refused beyond the bounds: %s', (_, pieces: string[]) => {
    const reader = new SseReader(BOUNDS)
    expect(() => pieces.map((piece) => reader.push(utf8.encode(piece)))).toThrow(/the server sent .*more than \d+/)
    const unbounded = new SseReader()
    expect(() => pieces.map((piece) => unbounded.push(utf8.encode(piece)))).not.toThrow()
  })

  it('takes linear time, also with mixed line ends and an event of many lines', () => {
    const longest = (text: string) => {
      const bytes = utf8.encode(text)
      const start = performance.now()
      new SseReader({ ...FOREIGN, lines: Number.POSITIVE_INFINITY }).push(bytes)
      return performance.now() - start
    }
    expect(longest(`${'\n'.repeat(1_000_000)}\r`)).toBeLessThan(10_000)
    expect(longest(`${'data: 12345\n'.repeat(500_000)}\n`)).toBeLessThan(10_000)
  })
})
