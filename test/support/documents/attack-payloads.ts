import fc from 'fast-check'
import { property } from '../property.ts'
import { ALL_FORMS } from './attack-forms.ts'

// Payloads: forms of attacks, changed and combined at random.

/** One change of a payload. `draw`: a number from 0 to below its argument, so a payload depends only on its seed. */
type Change = (payload: string, draw: (below: number) => number) => string

const one = <T>(items: readonly T[], draw: (below: number) => number): T => items[draw(items.length)]!

/** Characters that a browser ignores or treats as white space at some places. */
const ODD = [
  '\t',
  '\n',
  '\r',
  '\f',
  '\u00a0',
  '\u200b',
  '\u2028',
  '\ufeff',
  '\u00ad',
  '/',
  '\u0001',
  '\u007f',
  '\u0085',
]

const WRAPS = (
  'p b i u s code pre a blockquote h1 ul ol li table tr td th thead tbody span div svg math mtext mi annotation-xml ' +
  'foreignObject desc title noscript template textarea xmp select option style script form button template x:y object'
).split(' ')

const caseOf: Change = (payload, draw) =>
  payload.replaceAll(/<\/?[a-z][^\s>]*|\bon[a-z]+=|\b[a-z]+:/gi, (name) =>
    [...name].map((c) => (draw(2) === 0 ? c.toUpperCase() : c.toLowerCase())).join(''),
  )

const inAttribute =
  (change: (c: string, draw: (below: number) => number) => string): Change =>
  (payload, draw) =>
    payload.replaceAll(/="([^"<&]*)"/g, (_, value: string) => `="${[...value].map((c) => change(c, draw)).join('')}"`)

const references = inAttribute((c, draw) => {
  const code = c.codePointAt(0)!
  return [c, c, `&#${code};`, `&#x${code.toString(16)};`, `&#${'0'.repeat(draw(5))}${code};`][draw(5)]!
})
const hidden = inAttribute((c, draw) => (draw(9) === 0 ? `&#${one(ODD, draw).codePointAt(0)};${c}` : c))
const rawHidden: Change = (payload, draw) => {
  const at = draw(payload.length + 1)
  return payload.slice(0, at) + one(ODD, draw) + payload.slice(at)
}

const wrap: Change = (payload, draw) => {
  const name = one(WRAPS, draw)
  return `<${name}>${payload}</${name}>`
}
const unclosed: Change = (payload, draw) => `<${one(WRAPS, draw)}>${payload}`
const closedBefore: Change = (payload, draw) => `</${one(WRAPS, draw)}>${payload}`
const asText: Change = (payload) => payload.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const asTitle: Change = (payload) => `<a href="/p" title="${asText(payload, () => 0).replaceAll('"', '&quot;')}">x</a>`
const asTitleLines: Change = (payload, draw) => asTitle(`\n\n${payload}\n\n`, draw).replaceAll('\n', '&#10;')
const asCdata: Change = (payload) => `<![CDATA[${payload.replaceAll(']]>', ']]')}]]>`
const asCode: Change = (payload, draw) =>
  `<pre><code class="language-${one(['ts', '"', 'x y'], draw)}">${asText(payload, draw)}</code></pre>`
const fenced: Change = (payload, draw) => `${one(['```', '~~~', '`', '    ', '> ', '- ', '# '], draw)}${payload}`
const cut: Change = (payload, draw) => payload.slice(draw(4), payload.length - draw(4))
const withComment: Change = (payload, draw) => {
  const at = payload.indexOf('<', draw(payload.length + 1))
  return at < 0 ? payload : `${payload.slice(0, at)}<!--${one(['', '>', '->', ' -- '], draw)}-->${payload.slice(at)}`
}
const joined: Change = (payload, draw) => payload + one(['', ' ', '\n\n', 'x'], draw) + one(ALL_FORMS, draw)
const doubled: Change = (payload) =>
  payload.replace(/<([a-z]{3,})/i, (_, name: string) => `<${name.slice(0, 2)}<${name}>${name.slice(2)}`)
const withAttribute: Change = (payload, draw) =>
  payload.replace(
    /<([a-z][a-z0-9]*)/i,
    (tag) =>
      tag +
      one(
        [
          ' onclick="hit()"',
          ' STYLE="x:y"',
          ' href="javascript:hit()"',
          ' xlink:href="data:,x"',
          ' title="&quot;&gt;&lt;svg onload=hit()&gt;"',
          ' class="language-x" id="a"',
          '/onclick=hit()/',
        ],
        draw,
      ),
  )

const CHANGES: readonly Change[] = [
  ...[
    caseOf,
    references,
    hidden,
    rawHidden,
    wrap,
    wrap,
    unclosed,
    closedBefore,
    asText,
    asTitle,
    asTitleLines,
    asCdata,
  ],
  ...[asCode, fenced, cut, withComment, joined, doubled, withAttribute],
]

const payload: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...ALL_FORMS), fc.array(fc.nat(2 ** 30), { minLength: 1, maxLength: 4 }))
  .map(([form, seeds]) =>
    seeds.reduce((text, seed) => {
      let state = seed
      const draw = (below: number) => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0
        return (state >>> 8) % Math.max(1, below)
      }
      return one(CHANGES, draw)(text, draw)
    }, form),
  )

/** Every form unchanged, and changed forms up to `count` different payloads in total. Does not print the seed. */
export function payloads(count: number, seed: number): readonly string[] {
  const all = new Set(ALL_FORMS)
  for (let round = 0; all.size < count; round++)
    for (const text of fc.sample(payload, { ...property<string>(count), seed: seed + round }))
      if (all.size < count) all.add(text.toWellFormed())
  return [...all]
}
