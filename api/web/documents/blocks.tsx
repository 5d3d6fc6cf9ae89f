import { type ComponentChildren, Fragment } from 'preact'
import type { DocumentView } from '../../operations/document/schemas.ts'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'

type Block = DocumentView['blocks'][number]
type Runs = NonNullable<Block['text']>

/** The most blocks that the screen shows. */
const MOST = 1_000

/** The authors of a document in the order of their first words, and of each part of each span. Lengths are in UTF-16 units. */
export interface Authors {
  readonly names: readonly string[]
  readonly parts: ReadonlyMap<string, readonly { readonly length: number; readonly author: string }[]>
}

/** The number of colours of people in the styles. */
const COLOURS = 6

export const authorColour = ({ names }: Authors, name: string): string => `person-${names.indexOf(name) % COLOURS}`

/** A document's blocks as elements. The document's text is never parsed as markup. */
export function Blocks({ blocks, authors }: { blocks: readonly Block[]; authors?: Authors }) {
  if (blocks.length === 0) return <p class="quiet">The document is empty here.</p>
  return (
    <div class="markdown">
      {blocks.slice(0, MOST).map((block, i) => (
        <BlockView key={block.id ?? i} block={block} authors={authors} />
      ))}
      {blocks.length > MOST && <p class="quiet">{blocks.length - MOST} more blocks</p>}
    </div>
  )
}

interface BlockProps {
  readonly block: Block
  readonly authors: Authors | undefined
}

function BlockView({ block: { id, type, attrs = {}, text, rows }, authors }: BlockProps) {
  if (rows !== undefined)
    return (
      <table>
        <tbody>
          {rows.map((cells, i) => (
            <tr key={i}>
              {cells.map((cell, j) => (
                <td key={j} dir="auto">
                  <Text runs={cell.text} spanId={cell.span_id} authors={authors} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    )
  if (text === undefined) return type === 'divider' ? <hr /> : <p class="quiet">{type}</p>
  const runs = <Text runs={text} spanId={id} authors={authors} />
  if (/code/.test(type)) return <pre dir="auto">{runs}</pre>
  if (/quote/.test(type)) return <blockquote dir="auto">{runs}</blockquote>
  if (/list|item/.test(type))
    return (
      <p dir="auto" class="item">
        • {runs}
      </p>
    )
  if (/heading/.test(type))
    return (
      <p dir="auto" class={`heading h${Number(attrs.level) || 1}`}>
        {runs}
      </p>
    )
  return <p dir="auto">{runs}</p>
}

interface TextProps {
  readonly runs: Runs
  readonly spanId: string | null
  readonly authors: Authors | undefined
}

const Text = ({ runs, spanId, authors }: TextProps) => (
  <>
    {written(runs, authors?.parts.get(spanId ?? '') ?? []).map(({ text, marks, author }, i) => (
      <Fragment key={i}>
        {marked(
          marks,
          author === null || authors === undefined ? (
            <Foreign text={text} part />
          ) : (
            <span class={`written ${authorColour(authors, author)}`} title={shown(author)}>
              <Foreign text={text} part />
            </span>
          ),
        )}
      </Fragment>
    ))}
  </>
)

/** The runs of a text, split where the author changes. */
function written(runs: Runs, parts: readonly { readonly length: number; readonly author: string }[]) {
  const found: (Runs[number] & { readonly author: string | null })[] = []
  let part = 0
  let left = parts[0]?.length ?? 0
  for (const { text, marks } of runs) {
    for (let at = 0; at < text.length; ) {
      const length = part < parts.length ? Math.min(left, text.length - at) : text.length - at
      const author = parts[part]?.author ?? null
      if (length > 0) found.push({ text: text.slice(at, at + length), marks, author })
      at += length
      left -= length
      if (left > 0 || part >= parts.length) continue
      part += 1
      left = parts[part]?.length ?? 0
    }
  }
  return found
}

function marked(
  { bold, italic, strike, code, link }: Runs[number]['marks'],
  text: ComponentChildren,
): ComponentChildren {
  let found = text
  if (code) found = <code>{found}</code>
  if (strike) found = <del>{found}</del>
  if (italic) found = <em>{found}</em>
  if (bold) found = <strong>{found}</strong>
  const href = (link as { href?: string } | undefined)?.href
  // Show a link's address without a link: the text of the link may name a different address.
  return href === undefined ? found : <span title={shown(href)}>{found} ↗</span>
}
