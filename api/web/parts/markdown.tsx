import { lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { shown } from './shown.ts'
import { Foreign, SCREENFUL } from './text.tsx'

// Only the library's lexer is used. This file renders the tokens as elements, so no text becomes markup.

const DEPTH = 24

/** Only web addresses become links. */
const isWeb = (href: string): boolean => URL.canParse(href) && /^https?:$/.test(new URL(href).protocol)

function inline(tokens: readonly Token[] | undefined, text: string, depth: number): ComponentChildren {
  if (tokens === undefined || depth > DEPTH) return shown(text)
  return tokens.map((token, i) => <Inline key={i} token={token as Tokens.Generic} depth={depth + 1} />)
}

function Inline({ token, depth }: { token: Tokens.Generic; depth: number }) {
  const children = () => inline(token.tokens, String(token.text ?? token.raw), depth)
  switch (token.type) {
    case 'strong':
      return <strong>{children()}</strong>
    case 'em':
      return <em>{children()}</em>
    case 'del':
      return <del>{children()}</del>
    case 'codespan':
      return (
        <code>
          <bdi>{shown(String(token.text))}</bdi>
        </code>
      )
    case 'br':
      return <br />
    case 'link': {
      const href = String(token.href)
      if (!isWeb(href)) return <>{shown(token.raw)}</>
      const title = shown(href)
      return (
        <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={title}>
          {children()}
        </a>
      )
    }
    case 'text':
    case 'escape':
      return <>{children()}</>
    default:
      // Show the source text of images, raw HTML and unknown tokens.
      return <>{shown(token.raw)}</>
  }
}

function Block({ token, depth }: { token: Tokens.Generic; depth: number }) {
  if (depth > DEPTH) return <p>{shown(token.raw)}</p>
  // Only the outer block has the attribute: a browser skips inner elements that have it when it detects the direction.
  const dir = depth === 0 ? 'auto' : undefined
  switch (token.type) {
    case 'space':
      return null
    case 'heading':
      return (
        <p dir={dir} class={`heading h${token.depth}`}>
          {inline(token.tokens, String(token.text), depth)}
        </p>
      )
    case 'paragraph':
    case 'text':
      return <p dir={dir}>{inline(token.tokens, String(token.text), depth)}</p>
    case 'code':
      return (
        <pre>
          <Foreign text={String(token.text)} />
        </pre>
      )
    case 'blockquote':
      return <blockquote dir={dir}>{blocks(token.tokens ?? [], depth + 1)}</blockquote>
    case 'hr':
      return <hr />
    case 'list': {
      const items = (token as Tokens.List).items.map((item, i) => <li key={i}>{blocks(item.tokens, depth + 1)}</li>)
      return token.ordered ? (
        <ol dir={dir} start={Number(token.start) || 1}>
          {items}
        </ol>
      ) : (
        <ul dir={dir}>{items}</ul>
      )
    }
    case 'table':
      return <Table table={token as Tokens.Table} depth={depth} />
    default:
      return <p dir={dir}>{shown(token.raw)}</p>
  }
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }) {
  const cells = (row: Tokens.TableCell[], kind: 'th' | 'td') =>
    row.map((cell, i) => {
      const Cell = cell.text === '' ? 'td' : kind
      return (
        <Cell key={i} dir="auto">
          {inline(cell.tokens, cell.text, depth)}
        </Cell>
      )
    })
  return (
    <table>
      <thead>
        <tr>{cells(table.header, 'th')}</tr>
      </thead>
      <tbody>
        {table.rows.map((row, i) => (
          <tr key={i}>{cells(row, 'td')}</tr>
        ))}
      </tbody>
    </table>
  )
}

const blocks = (tokens: readonly Token[], depth: number) =>
  tokens.map((token, i) => <Block key={i} token={token as Tokens.Generic} depth={depth} />)

/**
 * Renders Markdown from a model. Shows the source of texts that are too long to parse quickly or that fail to parse.
 */
export function Markdown({ text }: { text: string }) {
  if (text.length > SCREENFUL) return <Foreign text={text} />
  try {
    return <div class="markdown">{blocks(lexer(text), 0)}</div>
  } catch {
    return <Foreign text={text} />
  }
}
