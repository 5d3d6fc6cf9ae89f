import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { htmlText } from '../../../domain/document/markup/html.ts'
import { normalizeBlocks, normalizeSpan } from '../../../domain/document/markup/normalize.ts'
import { renderBlocks, renderRuns } from '../../../domain/document/markup/render.ts'
import { type BlockContent, contentFault } from '../../../domain/document/model/block.ts'
import { anyTree, canonicalBlocks } from '../../support/documents/arbitrary.ts'
import { markup } from '../../support/documents/gateway.ts'
import { chooser, noisy } from '../../support/documents/noise.ts'
import { property } from '../../support/property.ts'

const canonical = (xml: string) => normalizeBlocks(markup(xml))
const isBlock = (node: { type: string }): node is BlockContent => node.type !== 'misplaced'
/** Blocks as their canonical HTML. */
const html = (xml: string) => htmlText(renderBlocks(canonical(xml).filter(isBlock)))

describe('the canonical form', () => {
  it.each([
    ['<p> a \n  b </p>', '<p>a b</p>'],
    ['<p>a<code> b  c </code> d</p>', '<p>a<code> b  c </code> d</p>'],
    ['<p><i><b>x</b></i><b><i>y</i></b></p>', '<p><b><i>xy</i></b></p>'],
    ['<p><a href="/x" title="t"><u>l</u></a></p>', '<p><u><a href="/x" title="t">l</a></u></p>'],
    ['<p><a href="/x" title="t&#13;&#10;u&#13;v">l</a></p>', '<p><a href="/x" title="t&#10;u&#10;v">l</a></p>'],
    ['<p>a <br/> b</p>', '<p>a<br/>b</p>'],
    ['<p></p><p><b> </b></p><ul><li></li></ul>', ''],
    ['a<p>b</p>c', '<p>a</p><p>b</p><p>c</p>'],
    ['<b>a<p>b</p></b>', '<p><b>a</b></p><p><b>b</b></p>'],
    ['<blockquote><p>a</p><p>b</p></blockquote>', '<blockquote>a</blockquote><blockquote>b</blockquote>'],
    ['<pre>\n a\n\n b</pre>', '<pre><code> a\n\n b</code></pre>'],
    ['<ul><li>a<ol><li>b</li></ol></li></ul>', '<ul><li>a</li></ul><ul><ol><li>b</li></ol></ul>'],
    ['<ul><li>a</li></ul><ul><li><p>b</p></li></ul>', '<ul><li>a</li><li>b</li></ul>'],
    ['<table><thead><tr><th>h</th></tr></thead><tr></tr></table>', '<table><tbody><tr><th>h</th></tr></tbody></table>'],
  ])('of %s', (xml, expected) => {
    expect(html(xml)).toBe(expected)
  })

  it.each([
    ['<p>a<p>b</p></p>', 'p within p'],
    ['<li>a</li>', 'li within the top level'],
    ['<tr><td>a</td></tr>', 'tr within the top level'],
    ['<ul>a</ul>', 'text within ul'],
    ['<ul><p>a</p></ul>', 'p within ul'],
    ['<ul><li><p>a</p><p>b</p></li></ul>', 'p within li'],
    ['<ul><li><ul><li>a</li></ul>b</li></ul>', 'text within li'],
    ['<table>a<tr><td>b</td></tr></table>', 'text within table'],
    ['<table><tr><td><ul><li>b</li></ul></td></tr></table>', 'ul within td'],
    ['<table><tr><td><p>a</p><p>b</p></td></tr></table>', 'text within td'],
    ['<blockquote><h1>a</h1></blockquote>', 'h1 within blockquote'],
  ])('has no place for a part of %s', (xml, expected) => {
    const misplaced = canonical(xml).flatMap((node) => (isBlock(node) ? [] : [`${node.what} within ${node.within}`]))
    expect(misplaced).toEqual([expected])
  })

  it('keeps the white space of a code block in a replacement, and drops its marks', () => {
    const nodes = markup(' a\n  <b>b</b> ')
    expect(normalizeSpan(nodes, true).runs).toEqual([{ text: ' a\n  b ', marks: {} }])
    expect(normalizeSpan(nodes, false).runs.map(({ text }) => text)).toEqual(['a ', 'b'])
  })

  it('is its own canonical form', () => {
    fc.assert(
      fc.property(canonicalBlocks, (blocks) => {
        expect(normalizeBlocks(renderBlocks(blocks))).toEqual(blocks)
        expect(blocks.map(contentFault).filter((fault) => fault !== null)).toEqual([])
      }),
      property(300),
    )
  })

  it('is reached in one step from any tree', () => {
    fc.assert(
      fc.property(fc.array(anyTree, { maxLength: 5 }), (nodes) => {
        const once = normalizeBlocks(nodes).filter(isBlock)
        expect(normalizeBlocks(renderBlocks(once))).toEqual(once)
        const { runs } = normalizeSpan(nodes, false)
        expect(normalizeSpan(renderRuns(runs), false).runs).toEqual(runs)
      }),
      property(500),
    )
  })

  it('is equal for equal meaning', () => {
    fc.assert(
      fc.property(canonicalBlocks, fc.array(fc.nat(9999), { minLength: 60, maxLength: 60 }), (blocks, numbers) => {
        expect(normalizeBlocks(noisy(blocks, chooser(numbers)))).toEqual(blocks)
      }),
      property(500),
    )
  })

  it('comes back from its own HTML', () => {
    fc.assert(
      fc.property(canonicalBlocks, (blocks) => {
        expect(normalizeBlocks(markup(htmlText(renderBlocks(blocks))))).toEqual(blocks)
      }),
      property(300),
    )
  })
})
