import type { BlockContent, Cell } from '../model/block.ts'
import { MARKS, type Mark, type Marks, type TextRun } from '../model/runs.ts'
import { shownLanguage } from './code.ts'
import { type Attribute, element, type Node } from './tree.ts'
import { linkUrl } from './url.ts'

// Blocks as a tree of HTML elements: the inverse of normalization.

/** Blocks in document order as elements, with list items inside lists. */
export function renderBlocks(blocks: readonly BlockContent[]): Node[] {
  const out: Node[] = []
  for (let at = 0; at < blocks.length; ) {
    const end = endOfList(blocks, at)
    if (end > at) out.push(...lists(blocks.slice(at, end) as Item[], 0))
    else out.push(block(blocks[at]!))
    at = Math.max(end, at + 1)
  }
  return out
}

/** Runs as text within inline elements. Line feeds outside code become line breaks. */
export function renderRuns(runs: readonly TextRun[]): Node[] {
  return runs.flatMap(({ text, marks }) => within(marks, marks.code ? [text] : broken(text)))
}

function block(content: BlockContent): Node {
  switch (content.type) {
    case 'paragraph':
      return element('p', renderRuns(content.text))
    case 'heading':
      return element(`h${content.attrs.level}`, renderRuns(content.text))
    case 'quote':
      return element('blockquote', renderRuns(content.text))
    case 'list_item':
      return element('li', renderRuns(content.text))
    case 'code':
      return code(shownLanguage(content.attrs.language), content.text)
    case 'table':
      return element('table', [
        element(
          'tbody',
          content.rows.map((row) => element('tr', row.map(cell))),
        ),
      ])
    case 'divider':
      return element('hr', [])
  }
}

function code(language: string | null, runs: readonly TextRun[]): Node {
  const text = runs.map((run) => run.text).join('')
  // HTML ignores the first line feed.
  const body = text.startsWith('\n') ? `\n${text}` : text
  return element('pre', [element('code', [body], language === null ? [] : [['class', `language-${language}`]])])
}

function cell({ header, colspan, rowspan, text }: Cell): Node {
  const spans = Object.entries({ colspan, rowspan }).filter(([, n]) => n !== 1)
  return element(
    header ? 'th' : 'td',
    renderRuns(text),
    spans.map(([name, n]): Attribute => [name, String(n)]),
  )
}

type Item = Extract<BlockContent, { type: 'list_item' }>

function endOfList(blocks: readonly BlockContent[], from: number): number {
  let end = from
  while (blocks[end]?.type === 'list_item') end += 1
  return end
}

/** Items as lists. Deeper items become separate lists between the items. */
function lists(items: readonly Item[], indent: number): Node[] {
  const out: Node[] = []
  for (let at = 0; at < items.length; ) {
    const { ordered, indent: own } = items[at]!.attrs
    const inner: Node[] = []
    let end = at
    if (own > indent) {
      // The items in the inner list may have different kinds, so the outer list is always a `ul`.
      while (end < items.length && items[end]!.attrs.indent > indent) end += 1
      out.push(element('ul', lists(items.slice(at, end), indent + 1)))
    } else {
      while (end < items.length && items[end]!.attrs.indent === own && items[end]!.attrs.ordered === ordered) {
        inner.push(block(items[end]!))
        end += 1
      }
      out.push(element(ordered ? 'ol' : 'ul', inner))
    }
    at = end
  }
  return out
}

const TAG_OF: Readonly<Record<Mark, string>> = {
  bold: 'b',
  italic: 'i',
  underline: 'u',
  strike: 's',
  code: 'code',
  link: 'a',
}

function within(marks: Marks, children: readonly Node[]): readonly Node[] {
  return [...MARKS].reverse().reduce((inner, mark) => {
    if (marks[mark] === undefined) return inner
    return mark === 'link' ? linked(marks.link!, inner) : [element(TAG_OF[mark], inner)]
  }, children)
}

/** Check the address again: a link of a document may come from a person's replica. */
function linked(link: NonNullable<Marks['link']>, inner: readonly Node[]): readonly Node[] {
  const href = linkUrl(link.href)
  if (href === null) return inner
  const attributes = Object.entries({ ...link, href }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return [element('a', inner, attributes)]
}

const broken = (text: string): Node[] =>
  text.split('\n').flatMap((line, i) => (i === 0 ? [line] : [element('br', []), line]))
