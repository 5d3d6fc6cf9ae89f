import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BlockContent, blockText, contentFault } from '../../../domain/document/model/block.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import { frontierText, parseFrontier, relationOf } from '../../../domain/document/model/frontier.ts'
import { mergedRuns, orderedMarks } from '../../../domain/document/model/runs.ts'
import { cellId, parseCellId } from '../../../domain/document/model/span-id.ts'
import { property } from '../../support/property.ts'

const HELLO = 'a269bf598bccc8b9702231038b7dd23f041e2836860130a228863d92fe6b6f7a'
const EMPTY = 'e27f2f346f208ed7f20b5e5f1d2b1a8ca133098c70ac38c9f7e6fa9905a8eab8'
const ACUTE = 'fa4ff9ae9e95575a6fc2dd60b86dc9bf86d4c9bf3a920e6d53354cf429bfd356'

describe('the context hash', () => {
  it.each([
    ['Hello', HELLO],
    ['', EMPTY],
    ['\u00e9', ACUTE],
    ['e\u0301', ACUTE],
    ['He\u0000ll\u0085o', HELLO],
  ])('of b1 and %j', (text, hash) => {
    expect(contextHash('b1', text)).toBe(hash)
  })

  it('does not tell line ends apart, but tells TAB, LF and the block apart', () => {
    expect(new Set(['a\nb', 'a\r\nb', 'a\rb'].map((text) => contextHash('b1', text))).size).toBe(1)
    const others = [
      ['b1', 'a\nb'],
      ['b1', 'a\tb'],
      ['b1', 'ab'],
      ['b2', 'a\nb'],
    ] as const
    expect(new Set(others.map(([id, text]) => contextHash(id, text))).size).toBe(4)
  })
})

describe('frontier text', () => {
  it('is sorted by peers as unsigned 64-bit numbers', () => {
    const text = '2:7|10:3|9007199254740992:1|9007199254740993:0|18446744073709551615:2147483647'
    expect(frontierText(parseFrontier(text.split('|').toReversed().join('|'))!)).toBe(text)
    expect(parseFrontier('')).toEqual([])
  })

  it.each([':', '1', '1:', ':1', '01:1', '1:01', '-1:1', '1:-1', '1:1|', '|', '1:1||2:2', '1:1|1:2', ' 1:1', '1:1\n'])(
    'is not %j',
    (text) => {
      expect(parseFrontier(text)).toBeNull()
    },
  )

  it.each(['18446744073709551616:0', '1:2147483648', `1:${'9'.repeat(500)}`, '0x1:1', '1e3:1'])('is not %s', (text) => {
    expect(parseFrontier(text)).toBeNull()
  })

  it('round-trips', () => {
    const item = fc.record({ peer: fc.bigInt(0n, 2n ** 64n - 1n), counter: fc.nat(2 ** 31 - 1) })
    const frontier = fc.uniqueArray(item, { selector: ({ peer }) => peer })
    fc.assert(
      fc.property(frontier, (items) => {
        const text = frontierText(items)
        expect(frontierText(parseFrontier(text)!)).toBe(text)
        expect(new Set(parseFrontier(text)!.map(({ peer }) => peer)).size).toBe(items.length)
      }),
      property(200),
    )
  })

  it('is compared by what the document knows', () => {
    const known = (peer: bigint) => (peer === 1n ? 5 : peer === 2n ? 3 : 0)
    const relation = (text: string) => relationOf(parseFrontier(text)!, parseFrontier('1:4|2:2')!, known)
    const answers = ['2:2|1:4', '1:4', '', '1:4|2:3', '1:4|2:2|3:0', '1:5', '3:0', '1:0|3:0'].map(relation)
    expect(answers).toEqual(['equal', 'behind', 'behind', 'ahead', 'ahead', 'diverged', 'unknown', 'unknown'])
  })
})

describe('span ids', () => {
  it('of cells name block, row and column', () => {
    expect(parseCellId('a/b/0/12')).toEqual({ blockId: 'a/b', row: 0, column: 12 })
    expect(cellId({ blockId: 'a/b', row: 0, column: 12 })).toBe('a/b/0/12')
    expect(['b1', 'b1/1', 'b1/01/1', '/1/1', 'b1/-1/0', `b1/1/${'9'.repeat(9)}`].map(parseCellId)).toEqual(
      Array(6).fill(null),
    )
  })
})

describe('the document model', () => {
  const text = [{ text: 'x', marks: {} }]
  const cell = { header: false, colspan: 1, rowspan: 1, text }

  it.each([
    ['heading: level', { type: 'heading', attrs: { level: 7 }, text }],
    ['heading: level', { type: 'heading', attrs: { level: 1.5 }, text }],
    ['paragraph', { type: 'paragraph', attrs: { level: 1 }, text }],
    ['list_item: indent', { type: 'list_item', attrs: { ordered: true, indent: 9 }, text }],
    ['code: its text', { type: 'code', attrs: { language: null }, text: [{ text: 'x', marks: { bold: true } }] }],
    ['table: a row', { type: 'table', attrs: {}, rows: [[cell], []] }],
    ['table: a row', { type: 'table', attrs: {}, rows: [] }],
    ['table cell: colspan', { type: 'table', attrs: {}, rows: [[{ ...cell, colspan: 0 }]] }],
  ])('has no place for another %s', (fault, block) => {
    expect(contentFault(block as BlockContent)).toContain(fault)
  })

  it('covers a table by the texts of its cells', () => {
    expect(blockText({ type: 'table', attrs: {}, rows: [[cell, cell], [cell]] })).toBe('x\tx\nx')
    expect(blockText({ type: 'divider', attrs: {} })).toBe('')
  })

  it('orders marks and the attributes of links, and merges equal neighbours', () => {
    const marks = { link: { title: 't', href: '/' }, code: true, bold: true } as const
    expect(JSON.stringify(orderedMarks(marks))).toBe('{"bold":true,"code":true,"link":{"href":"/","title":"t"}}')
    const runs = [
      { text: 'a', marks },
      { text: '', marks: {} },
      { text: 'b', marks: orderedMarks(marks) },
    ]
    expect(mergedRuns(runs)).toEqual([{ text: 'ab', marks }])
  })
})
