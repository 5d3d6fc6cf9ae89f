import type { Mark, Node } from 'prosemirror-model'
import type { Cell, DocumentBlock } from '../../../../domain/document/model/block.ts'
import { type Marks, mergedRuns, type TextRun } from '../../../../domain/document/model/runs.ts'
import type { ReadBlock } from '../../../../domain/ports/index.ts'
import { schema } from './schema.ts'

// Each node knows its block, and each block its node: an unchanged block is the same object in the editor and the replica.

const nodes = new WeakMap<ReadBlock, Node>()
const blocks = new WeakMap<Node, ReadBlock>()

/** The node of a block. */
export function nodeOf(block: ReadBlock): Node {
  const known = nodes.get(block)
  if (known !== undefined) return known
  const node = made(block)
  pair(node, block)
  return node
}

/** The block of a node at the top of the document. The node must have an id. */
export function blockOf(node: Node): ReadBlock {
  const known = blocks.get(node)
  if (known !== undefined) return known
  const block = read(node)
  pair(node, block)
  return block
}

/** Notes that a node is the node of this block. */
export function pair(node: Node, block: ReadBlock): void {
  nodes.set(block, node)
  blocks.set(node, block)
}

function made(block: ReadBlock): Node {
  const { id, type } = block
  if (type === 'unreadable') return schema.nodes.unreadable.create({ id })
  const attrs = { id, ...block.attrs }
  if (type === 'divider') return schema.nodes.divider.create(attrs)
  // Two people can make a paragraph code and a word of it bold. The schema has no marks in code.
  if (type === 'code')
    return schema.nodes.code.create(attrs, texts(block.text.map(({ text }) => ({ text, marks: {} }))))
  if (type !== 'table') return schema.nodes[type].create(attrs, texts(block.text))
  const rows = block.rows.map((cells) =>
    schema.nodes.row.create(
      null,
      cells.map(({ text, ...cell }) => schema.nodes.cell.create(cell, texts(text))),
    ),
  )
  return schema.nodes.table.create(attrs, rows)
}

const texts = (runs: readonly TextRun[]): Node[] =>
  runs.filter(({ text }) => text !== '').map(({ text, marks }) => schema.text(text, marksOf(marks)))

const marksOf = ({ link, code, ...on }: Marks): Mark[] => [
  ...Object.keys(on).map((name) => schema.marks[name as keyof typeof on].create()),
  ...(code === undefined ? [] : [schema.marks.inline_code.create()]),
  ...(link === undefined ? [] : [schema.marks.link.create({ link })]),
]

function read(node: Node): ReadBlock {
  const { id, ...attrs } = node.attrs as { id: string }
  if (node.type === schema.nodes.unreadable) return { type: 'unreadable', id }
  const { name } = node.type
  if (name === 'divider') return { id, type: name, attrs: {} }
  if (name === 'table') return { id, type: name, attrs: {}, rows: node.children.map((row) => row.children.map(cellOf)) }
  // The schema gives each type of node the attributes of its type of block.
  return { id, type: name, attrs, text: runsOf(node) } as DocumentBlock
}

const cellOf = (node: Node): Cell => ({ ...(node.attrs as Omit<Cell, 'text'>), text: runsOf(node) })

const runsOf = (node: Node): TextRun[] =>
  mergedRuns(
    node.children.map((child) => ({ text: child.text ?? '', marks: Object.assign({}, ...child.marks.map(markOf)) })),
  )

function markOf({ type, attrs }: Mark): Marks {
  if (type === schema.marks.link) return { link: attrs.link }
  return { [type === schema.marks.inline_code ? 'code' : type.name]: true }
}
