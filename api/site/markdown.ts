import { Marked, type Tokens } from 'marked'
import { escaped, highlighted } from './highlight.js'

/** A heading of a page, as its menu and the search show it. */
export interface Heading {
  readonly id: string
  readonly depth: number
  readonly text: string
}

/** A stretch of a page from one heading to the next, as plain text. */
export interface Stretch {
  readonly id: string
  readonly heading: string
  readonly text: string
}

export interface RenderedPage {
  readonly html: string
  readonly headings: readonly Heading[]
  readonly stretches: readonly Stretch[]
}

/** The id of a heading as GitHub makes it, so that a link to a heading works in both places. */
const idOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

/** Anchors in the middle of a text. All other HTML in a page is shown as text. */
const ANCHOR = /^<a id="[\w-]+">$|^<\/a>$/

/** The plain text of inline Markdown. */
function plain(tokens: readonly Tokens.Generic[]): string {
  return tokens
    .map((token) => (token.tokens ? plain(token.tokens) : token.type === 'html' ? '' : (token.text ?? token.raw)))
    .join('')
}

function tableText({ header, rows }: Tokens.Table): string {
  return [header, ...rows].map((cells) => cells.map(({ tokens }) => plain(tokens)).join(' ')).join(' ')
}

function textOf(token: Tokens.Generic): string {
  if (token.type === 'table') return tableText(token as Tokens.Table)
  if (token.type === 'list')
    return (token as Tokens.List).items.map((item) => item.tokens.map(textOf).join(' ')).join(' ')
  return token.tokens ? plain(token.tokens) : (token.text ?? '')
}

/** Renders a page. `href` gives the address of a link or picture as the site has it; null: it remains as text. */
export function rendered(text: string, href: (address: string) => string | null): RenderedPage {
  const headings: Heading[] = []
  const taken = new Map<string, number>()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const words = plain(tokens)
        const id = idOf(words)
        const before = taken.get(id) ?? 0
        taken.set(id, before + 1)
        const own = before === 0 ? id : `${id}-${before}`
        headings.push({ id: own, depth, text: words })
        return `<h${depth} id="${own}">${this.parser.parseInline(tokens)}<a class="here" href="#${own}" aria-label="Link to this heading">#</a></h${depth}>\n`
      },
      link({ href: address, tokens }) {
        const words = this.parser.parseInline(tokens)
        const to = href(address)
        return to === null ? words : `<a href="${escaped(to)}">${words}</a>`
      },
      image({ href: address, text }) {
        const from = href(address)
        return from === null ? escaped(text) : `<img src="${escaped(from)}" alt="${escaped(text)}">`
      },
      html: ({ text }) => (ANCHOR.test(text.trim()) ? text : escaped(text)),
      code({ text, lang = '' }) {
        const [language = ''] = lang.split(' ')
        return `<pre tabindex="0"><code>${highlighted(text, language === 'sh' ? 'bash' : language)}</code></pre>\n`
      },
      table(token) {
        // HTML needs no end tags of cells and rows; the references have 20,000 of them.
        const cells = (row: readonly Tokens.TableCell[], name: string) =>
          row.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}`).join('')
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}\n`).join('')
        return `<div class="table" tabindex="0"><table><thead><tr>${cells(token.header, 'th')}<tbody>\n${rows}</table></div>\n`
      },
    },
  })
  const tokens = marked.lexer(text)
  const html = marked.parser(tokens)
  const stretches: { id: string; heading: string; text: string }[] = []
  let next = 0
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { id, text: heading } = headings[next++]!
      stretches.push({ id, heading, text: '' })
    } else if (stretches.length > 0) {
      const last = stretches.at(-1)!
      last.text = `${last.text} ${textOf(token)}`.trim()
    }
  }
  return { html, headings, stretches }
}
