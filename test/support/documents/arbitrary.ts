import fc from 'fast-check'
import { normalizeBlocks } from '../../../domain/document/markup/normalize.ts'
import { renderBlocks } from '../../../domain/document/markup/render.ts'
import { element, type Node } from '../../../domain/document/markup/tree.ts'
import type { BlockContent } from '../../../domain/document/model/block.ts'
import type { Marks, TextRun } from '../../../domain/document/model/runs.ts'

// Arbitrary blocks, and trees like those of a model.

const words = fc.constantFrom(
  'a',
  'bc',
  ' ',
  '  ',
  'é',
  'e\u0301',
  '漢',
  '😀',
  '<',
  '&amp;',
  '"',
  'data:x',
  '\u0085',
  '\t',
  'javascript:1',
)
const text = fc.array(words, { maxLength: 6 }).map((parts) => parts.join(''))

const on = fc.constant(true as const)
const link = fc.record(
  {
    href: fc.constantFrom('https://x/?a=1&b="2"', '/p', '#f'),
    title: fc.constantFrom('t', '<i>', 'data:'),
    rel: fc.constant('nofollow'),
  },
  { requiredKeys: ['href'] },
)
const marks: fc.Arbitrary<Marks> = fc.record(
  { bold: on, italic: on, underline: on, strike: on, code: on, link },
  { requiredKeys: [] },
)
const runs: fc.Arbitrary<TextRun[]> = fc.array(fc.record({ text, marks }), { maxLength: 4 })
const plain: fc.Arbitrary<TextRun[]> = fc.array(
  fc.record({ text: fc.oneof(text, fc.constant('\n')), marks: fc.constant({}) }),
  { maxLength: 4 },
)
const none = fc.constant({})

const cell = fc.record({
  header: fc.boolean(),
  colspan: fc.integer({ min: 1, max: 3 }),
  rowspan: fc.integer({ min: 1, max: 3 }),
  text: runs,
})

const block: fc.Arbitrary<BlockContent> = fc.oneof(
  fc.record({ type: fc.constant('paragraph' as const), attrs: none, text: runs }),
  fc.record({ type: fc.constant('quote' as const), attrs: none, text: runs }),
  fc.record({
    type: fc.constant('heading' as const),
    attrs: fc.record({ level: fc.integer({ min: 1, max: 6 }) }),
    text: runs,
  }),
  fc.record({
    type: fc.constant('code' as const),
    attrs: fc.record({ language: fc.constantFrom(null, 'ts') }),
    text: plain,
  }),
  fc.record({
    type: fc.constant('list_item' as const),
    attrs: fc.record({ ordered: fc.boolean(), indent: fc.integer({ min: 0, max: 8 }) }),
    text: runs,
  }),
  fc.record({
    type: fc.constant('table' as const),
    attrs: none,
    rows: fc.array(fc.array(cell, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  }),
)

/** Blocks in canonical form. */
export const canonicalBlocks: fc.Arbitrary<BlockContent[]> = fc
  .array(block, { maxLength: 5 })
  .map((blocks) => normalizeBlocks(renderBlocks(blocks)) as BlockContent[])

const TAGS = 'p h1 h6 blockquote ul ol li pre table thead tbody tr td th b strong i em u s code a span br'.split(' ')

/** Trees of allowed elements at any place, correctly nested or not. */
export const anyTree: fc.Arbitrary<Node> = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text as fc.Arbitrary<Node>,
    fc
      .tuple(fc.constantFrom(...TAGS), fc.array(tie('node'), { maxLength: 4 }))
      .map(([name, children]) => element(name, name === 'br' ? [] : children, name === 'a' ? [['href', '/x']] : [])),
  ),
})).node
