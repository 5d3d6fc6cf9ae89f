import type { ReadBlock } from '../../ports/index.ts'
import type { BlockContent, Cell, DocumentBlock } from '../model/block.ts'
import { plainText, type TextRun } from '../model/runs.ts'
import { shownLanguage } from './code.ts'
import { htmlEscaped, htmlText, numericReferences } from './html.ts'
import { renderBlocks, renderRuns } from './render.ts'
import type { Node } from './tree.ts'
import { linkUrl } from './url.ts'

// Blocks as GitHub-flavored Markdown. Content that Markdown cannot represent exactly is written as HTML.

/** A document as Markdown. Omits blocks outside the document model. */
export function toMarkdown(blocks: readonly ReadBlock[]): string {
  const known = blocks.filter((block): block is DocumentBlock => block.type !== 'unreadable')
  const parts: string[] = []
  let depth = -1
  known.forEach((block, i) => {
    const isItem = block.type === 'list_item'
    // An item is at most one level deeper than the previous item.
    depth = isItem ? Math.min(block.attrs.indent, depth + 1) : -1
    const text = markdownOf(block, Math.max(depth, 0))
    if (i === 0) parts.push(text)
    else parts.push(isItem && known[i - 1]!.type === 'list_item' ? '\n' : '\n\n', text)
  })
  return known.length === 0 ? '' : `${parts.join('')}\n`
}

function markdownOf(block: BlockContent, depth: number): string {
  switch (block.type) {
    case 'paragraph':
      return lineStart(inline(block.text, HARD_BREAK))
    case 'heading':
      return `${'#'.repeat(block.attrs.level)} ${inline(block.text, '<br>')}`
    case 'quote':
      return lineStart(inline(block.text, HARD_BREAK)).replaceAll(/^/gm, '> ')
    case 'list_item': {
      const marker = block.attrs.ordered ? '1. ' : '- '
      return `${INDENT.repeat(depth)}${marker}${lineStart(inline(block.text, '<br>'))}`
    }
    case 'code': {
      const text = plainText(block.text)
      const fence = '`'.repeat(Math.max(3, longestTicks(text) + 1))
      return `${fence}${shownLanguage(block.attrs.language) ?? ''}\n${text}\n${fence}`
    }
    case 'table':
      return table(block.rows) ?? asHtml(renderBlocks([block]))
    case 'divider':
      return '---'
  }
}

const INDENT = '    '
const HARD_BREAK = '\\\n'
const longestTicks = (text: string): number => Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))

/** Null: the table has no plain header row, or has cells that span others. */
function table([head, ...rows]: readonly (readonly Cell[])[]): string | null {
  const isPlain = ({ header, colspan, rowspan }: Cell, wanted: boolean) =>
    header === wanted && colspan === 1 && rowspan === 1
  const fits =
    head?.every((cell) => isPlain(cell, true)) === true &&
    rows.every((row) => row.length === head.length && row.every((cell) => isPlain(cell, false)))
  if (!fits) return null
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const cells = (row: readonly Cell[]) => line(row.map(({ text }) => inline(text, '<br>')))
  return [cells(head), line(head.map(() => '---')), ...rows.map(cells)].join('\n')
}

function inline(runs: readonly TextRun[], lineBreak: string): string {
  const text = runs.map((run, i) => {
    const alone = !isMarked(runs[i - 1]) && !isMarked(runs[i + 1])
    return alone ? runText(run) : isMarked(run) ? asHtml(renderRuns([run])) : escaped(run.text)
  })
  return text.join('').replaceAll(/<br\/>|\n/g, lineBreak)
}

const isMarked = (run: TextRun | undefined): boolean => run !== undefined && Object.keys(run.marks).length > 0

/** Markdown delimiters close only next to letters and digits. Other runs are written as HTML. */
function runText(run: TextRun): string {
  const { text, marks } = run
  if (!isMarked(run)) return escaped(text)
  const isWord = /^[\p{L}\p{N}](?:[^\n]*[\p{L}\p{N}])?$/u.test(text)
  if (!isWord || marks.underline || marks.code || marks.link?.rel || marks.link?.target)
    return asHtml(renderRuns([run]))
  const delimiters = `${marks.strike ? '~~' : ''}${marks.bold ? '**' : ''}${marks.italic ? '*' : ''}`
  const inner = `${delimiters}${escaped(text)}${[...delimiters].reverse().join('')}`
  const href = marks.link === undefined ? null : linkUrl(marks.link.href)
  if (href === null) return inner
  const { title } = marks.link!
  // Markdown supports only simple addresses and titles.
  if (/[\s<>\\|]|&[#\w]+;/.test(href) || /[\n\r<>|&]/.test(title ?? '')) return asHtml(renderRuns([run]))
  return `[${inner}](<${href}>${title === undefined ? '' : ` "${title.replaceAll(/["\\]/g, '\\$&')}"`})`
}

/** HTML within Markdown. Markdown parses the text between two tags, and an empty line ends the HTML. */
const asHtml = (nodes: readonly Node[]): string =>
  htmlText(nodes, (text) =>
    htmlEscaped(text).replaceAll(/[\\`*_[\]~|@\n\r]|(?<=www)\.|(?<=https?|ftp):/gi, numericReferences),
  )

const escaped = (text: string): string =>
  text.replaceAll(/[\\`*_[\]<>~|&]/g, '\\$&').replaceAll(/(?:https?|ftp):|www\./gi, (m) => m.replace(/[:.]$/, '\\$&'))

/** Escapes a heading, quote, list, fence or divider at the start of a line. */
const lineStart = (text: string): string =>
  text
    .replaceAll(/^([#>+=-]|\d{1,9}(?=[.)]))/gm, (start) => (/\d/.test(start) ? start : `\\${start}`))
    .replaceAll(/^(\d{1,9})([.)])/gm, '$1\\$2')
