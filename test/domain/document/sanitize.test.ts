import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import { Diagnostics } from '../../../domain/document/markup/diagnostics.ts'
import { hostileReason } from '../../../domain/document/markup/hostile.ts'
import { htmlText } from '../../../domain/document/markup/html.ts'
import { normalizeBlocks } from '../../../domain/document/markup/normalize.ts'
import { renderBlocks } from '../../../domain/document/markup/render.ts'
import { sanitize } from '../../../domain/document/markup/sanitize.ts'
import { element, isElement, type Node } from '../../../domain/document/markup/tree.ts'
import { linkUrl } from '../../../domain/document/markup/url.ts'
import type { BlockContent } from '../../../domain/document/model/block.ts'
import { attack, HARMLESS, HOSTILE, REMOVED } from '../../support/documents/attacks.ts'
import { markup } from '../../support/documents/gateway.ts'
import { property } from '../../support/property.ts'

// What may stand in a sanitized tree, said here a second time and in another way than the rules say it.
const TAGS = /^(span|b|strong|i|em|u|s|code|a|p|blockquote|ul|ol|li|pre|h[1-6]|br|table|thead|tbody|tr|th|td)$/
const VALUES: Readonly<Record<string, RegExp>> = {
  'a href': /^(https?:|mailto:|tel:|[^:]*$|[^:]*[/?#])/i,
  'a title': /^/,
  'a rel': /^[a-z -]+$/i,
  'a target': /^[\w-]+$/,
  'td colspan': /^\d+$/,
  'td rowspan': /^\d+$/,
  'th colspan': /^\d+$/,
  'th rowspan': /^\d+$/,
}

/** The forbidden parts of a tree. */
const leaks = (nodes: readonly Node[]): string[] =>
  nodes
    .filter(isElement)
    .flatMap(({ name, attributes, children }) => [
      ...(TAGS.test(name) ? [] : [name]),
      ...attributes
        .filter(
          ([key, value]) =>
            !VALUES[`${name} ${key}`]?.test(value) || /[\x00-\x1f\x7f-\x9f]/.test(key === 'href' ? value : ''),
        )
        .map(([key, value]) => `${name} ${key}=${value}`),
      ...leaks(children),
    ])

const hostile = (xml: string) => hostileReason(element('root', markup(xml))) !== null
const clean = (xml: string) => sanitize(markup(xml), new Diagnostics())
const plain = (nodes: readonly Node[]): string => nodes.map((n) => (isElement(n) ? plain(n.children) : n)).join('')

describe('the sanitizer', () => {
  it.each(HOSTILE)('rejects %s', (xml) => {
    expect(hostile(xml)).toBe(true)
  })

  it.each(REMOVED)('removes what is dangerous in %s', (xml) => {
    expect(hostile(xml)).toBe(false)
    const found = new Diagnostics()
    const nodes = sanitize(markup(xml), found)
    expect(leaks(nodes)).toEqual([])
    expect(plain(nodes)).toBe('x')
    expect(found.list().length > 0 || xml.includes('<!--')).toBe(true)
  })

  it.each(HARMLESS)('leaves the text %s', (xml) => {
    expect(hostile(xml)).toBe(false)
    expect(clean(xml)).toEqual(markup(xml))
  })

  it('keeps an address as a browser reads it, or not at all', () => {
    const kept = ['/p?a:b', ' https://x/ ', 'ht\ntps:\t//x/', '#a:b', 'a.html', 'MAILTO:a@x', '//x:80/'].map(linkUrl)
    expect(kept).toEqual(['/p?a:b', 'https://x/', 'https://x/', '#a:b', 'a.html', 'MAILTO:a@x', '//x:80/'])
    expect(['', ' \n', 'x:', 'a b:c', 'java\nscript:x', 'https\u200b:x', 'httpss://x'].map(linkUrl)).toEqual(
      Array(7).fill(null),
    )
  })

  it('says what it removed, and cuts a long list', () => {
    const found = new Diagnostics()
    sanitize(markup('<p onclick="1"><font>a</font><a href="x:y" style="">b</a></p>'), found)
    expect(found.list()).toEqual([
      { code: 'tag_removed', element: 'font' },
      { code: 'link_dropped', element: 'a', attribute: 'href' },
      { code: 'attribute_removed', element: 'a', attribute: 'style' },
      { code: 'attribute_removed', element: 'p', attribute: 'onclick' },
    ])
    const many = new Diagnostics()
    sanitize(markup(`<${'q'.repeat(500)}/>`.repeat(150)), many)
    expect([many.list().length, many.list().at(-1)]).toEqual([101, { code: 'more', count: 50 }])
    expect(JSON.stringify(many.list()).length).toBeLessThan(20_000)
  })

  it('lets no listed form through, neither into the tree nor into the HTML of the document', () => {
    const seen = { hostile: 0, clean: 0 }
    fc.assert(
      fc.property(attack, (xml) => {
        seen[hostile(xml) ? 'hostile' : 'clean'] += 1
        if (hostile(xml)) return
        const nodes = clean(xml)
        expect(leaks(nodes)).toEqual([])
        expect(plain(nodes)).toBe(plain(markup(xml)))
        const blocks = normalizeBlocks(nodes).filter((node): node is BlockContent => node.type !== 'misplaced')
        const html = htmlText(renderBlocks(blocks))
        const read = parseXml(`<root>${html}</root>`, { depth: 60, nodes: 100_000 })
        expect(read.kind === 'tree' && leaks(read.root.children)).toEqual([])
      }),
      property(1000),
    )
    expect(Math.min(seen.hostile, seen.clean)).toBeGreaterThan(50)
  })

  it('writes no dangerous address of a document into HTML, also where a person has put it there', () => {
    const text = [{ text: 'x', marks: { link: { href: 'javascript:alert(1)' } } }]
    expect(htmlText(renderBlocks([{ type: 'paragraph', attrs: {}, text }]))).toBe('<p>x</p>')
  })
})
