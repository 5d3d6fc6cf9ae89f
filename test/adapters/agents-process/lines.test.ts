import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineSplitter, MAX_LINE_BYTES, type OutputLine } from '../../../adapters/agents/process/lines.ts'
import { property } from '../../support/property.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const split = (chunks: readonly Buffer[]): OutputLine[] => {
  const splitter = new LineSplitter()
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
}
const cutAt = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...ends].map((start, i) => bytes.subarray(start, ends[i] ?? bytes.length))
}

test('lines are the same wherever the bytes are cut, also inside a character', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll(/[\r\n]/g, ''))
  fc.assert(
    fc.property(
      fc.array(line),
      fc.array(fc.nat(), { maxLength: 20 }),
      fc.constantFrom('\n', '\r\n'),
      (lines, cuts, end) => {
        const bytes = Buffer.from(lines.join(end))
        expect(split(cutAt(bytes, cuts))).toEqual(lines.filter((text) => text !== ''))
      },
    ),
    property(100),
  )
})

test('bytes that are no UTF-8 become U+FFFD, and the line stays', () => {
  expect(split([Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xc3]), Buffer.from([0xa9, 0x0a])])).toEqual(['a\ufffdb', 'é'])
})

test('a line of 1 MiB is kept and one byte more is dropped, whatever ends it', () => {
  const whole = 'x'.repeat(MAX_LINE_BYTES)
  expect(split([Buffer.from(`${whole}\nafter\n`)])).toEqual([whole, 'after'])
  expect(split([Buffer.from(`${whole}\r\nafter`)])).toEqual([whole, 'after'])
  expect(split([Buffer.from(`${whole}x\nafter\n`)])).toEqual([null, 'after'])
  expect(split([Buffer.from(`${whole}x\r\nafter\n`)])).toEqual([null, 'after'])
  expect(split([Buffer.from(`${whole}xx`)])).toEqual([null])
})

test('of a line that never ends nothing is held', () => {
  const splitter = new LineSplitter()
  const chunk = Buffer.alloc(64 * 1024, 'x')
  collect()
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 2_000; i++) expect(splitter.push(Buffer.from(chunk))).toEqual([])
  collect()
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024)
  expect(splitter.push(Buffer.from('\nafter\n'))).toEqual([null, 'after'])
})
