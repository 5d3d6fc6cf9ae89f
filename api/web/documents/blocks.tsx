import { type ComponentChildren, Fragment } from 'preact'
import type { DocumentView } from '../../operations/document/schemas.ts'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'

type Block = DocumentView['blocks'][number]
type Runs = NonNullable<Block['text']>

/** The most blocks that the screen shows. */
const MOST = 1_000

/** A document's blocks as elements. The document's text is never parsed as markup. */
export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  if (blocks.length === 0) return <p class="quiet">The document is empty here.</p>
  return (
    <div class="markdown">
      {blocks.slice(0, MOST).map((block, i) => (
        <BlockView key={block.id ?? i} block={block} />
      ))}
      {blocks.length > MOST && <p class="quiet">{blocks.length - MOST} more blocks</p>}
    </div>
  )
}

function BlockView({ block: { type, attrs = {}, text, rows } }: { block: Block }) {
  if (rows !== undefined)
    return (
      <table>
        <tbody>
          {rows.map((cells, i) => (
            <tr key={i}>
              {cells.map((cell, j) => (
                <td key={j}>
                  <Text runs={cell.text} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    )
  if (text === undefined) return type === 'divider' ? <hr /> : <p class="quiet">{type}</p>
  const runs = <Text runs={text} />
  if (/code/.test(type))
    return (
      <pre>
        <Foreign text={text.map((run) => run.text).join('')} />
      </pre>
    )
  if (/quote/.test(type)) return <blockquote>{runs}</blockquote>
  if (/list|item/.test(type)) return <p class="item">• {runs}</p>
  if (/heading/.test(type)) return <p class={`heading h${Number(attrs.level) || 1}`}>{runs}</p>
  return <p>{runs}</p>
}

const Text = ({ runs }: { runs: Runs }) => (
  <>
    {runs.map(({ text, marks }, i) => (
      <Fragment key={i}>{marked(marks, <Foreign text={text} />)}</Fragment>
    ))}
  </>
)

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
