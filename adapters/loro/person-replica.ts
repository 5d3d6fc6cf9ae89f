import { LoroDoc, LoroList, LoroMap, LoroText, type PeerID } from 'loro-crdt'
import type { DocumentBlock } from '../../domain/document/model/block.ts'
import { commonEnds } from '../../domain/document/model/common-ends.ts'
import { parseFrontier } from '../../domain/document/model/frontier.ts'
import type { ReadBlock, TextAnchor, TextRange } from '../../domain/ports/index.ts'
import { anchorOf, rangeOf } from './anchors.ts'
import { fillBlock, fillTable, replaceText } from './apply-edits.ts'
import { BlockIndex } from './block-index.ts'
import { asMap } from './layout.ts'
import { blockTextOf, cellText, isReadable } from './read-block.ts'
import { configureStyles } from './styles.ts'

/**
 * A document in the editor of one person, as a Loro peer of the server's replica. The editor writes blocks, and the
 * replica makes the smallest change of it. Runs in Node and in browsers.
 */
export class PersonReplica {
  readonly #doc = new LoroDoc()
  readonly #index: BlockIndex
  /** The blocks that the document has, in order. */
  #blocks: readonly ReadBlock[]
  /** How many operations of this replica the server has. */
  #sent = 0
  /** How many operations this replica had after each change that the server does not have. */
  #commits: number[] = []

  /** @param snapshot the document as the server exports it, with `format=loro` */
  constructor(snapshot: Uint8Array) {
    configureStyles(this.#doc)
    this.#doc.import(snapshot)
    this.#index = new BlockIndex(this.#doc)
    this.#blocks = this.#index.blocks()
  }

  /** The blocks in order. A block that did not change is the same object as before. */
  get blocks(): readonly ReadBlock[] {
    return this.#blocks
  }

  /**
   * Imports updates of others. Returns whether the document changed. Two people can change one block at the same time so
   * that it has the type of one and the attributes of the other. The replica gives such a block its last readable form.
   */
  import(updates: readonly Uint8Array[]): boolean {
    const before = this.#doc.oplogVersion()
    this.#index.importing(() => this.#doc.importBatch([...updates]))
    if (before.compare(this.#doc.oplogVersion()) === 0) return false
    const known = this.#blocks
    this.#blocks = this.#index.blocks()
    if (this.#blocks.some(({ type }) => type === 'unreadable') && this.#mend(known)) this.#blocks = this.#index.blocks()
    return true
  }

  #mend(known: readonly ReadBlock[]): boolean {
    const readable = new Map(
      known.flatMap((block) => (block.type === 'unreadable' ? [] : [[block.id, block] as const])),
    )
    let mended = false
    for (const [at, { type, id }] of this.#blocks.entries()) {
      const block = type === 'unreadable' && id !== null ? readable.get(id) : undefined
      if (block === undefined) continue
      this.#index.changing(block.id)
      const map = asMap(this.#index.list.get(at))!
      map.set('type', block.type)
      map.set('attrs', block.attrs)
      if (!isReadable(map)) fillBlock(map, block)
      mended = true
    }
    this.#commit()
    return mended
  }

  /** The anchor of a range of a span's text. Null: the span has another text. */
  anchor(spanId: string, { start, end, text }: TextRange): TextAnchor | null {
    const found = this.#index.text(spanId)
    return found?.slice(start, end) === text && text !== '' ? anchorOf(found, { start, end }) : null
  }

  /** The present range of an anchor in a span; see `OpenDocument.range`. */
  range(spanId: string, anchor: TextAnchor): TextRange | null {
    const text = this.#index.text(spanId)
    return text === null ? null : rangeOf(this.#doc, text, anchor)
  }

  /**
   * Makes the document have these blocks. A block that is the same object as in {@link blocks} is unchanged. A block
   * with a known id keeps its text, of which only the differing part is written.
   */
  write(wishes: readonly ReadBlock[]): void {
    const before = this.#blocks
    const { head, tail } = commonEnds(before, wishes)
    const present = before.slice(head, before.length - tail)
    const asked = wishes.slice(head, wishes.length - tail)
    // An unreadable block can be removed. An undo cannot bring it back, because nothing can write it.
    const wanted = asked.filter((block) => block.type !== 'unreadable' || before.includes(block))
    this.#remove(present, head, new Set(wanted.map(keyOf)))
    for (const [n, block] of wanted.entries()) {
      const isHere = n < present.length && keyOf(present[n]!) === keyOf(block)
      const at = isHere ? n : present.findIndex((one, i) => i > n && keyOf(one) === keyOf(block))
      if (at < 0) {
        this.#insert(head + n, block)
        present.splice(n, 0, block)
        continue
      }
      if (at > n) {
        this.#index.list.move(head + at, head + n)
        present.splice(n, 0, ...present.splice(at, 1))
      }
      if (present[n] !== block) this.#change(head + n, present[n]!, block)
    }
    this.#commit()
    this.#blocks = wanted.length === asked.length ? wishes : wishes.toSpliced(head, asked.length, ...wanted)
  }

  /** Removes the blocks whose keys are not wanted, and forgets them in `present`. */
  #remove(present: ReadBlock[], head: number, wanted: ReadonlySet<unknown>): void {
    for (let i = present.length - 1; i >= 0; i--)
      if (!wanted.has(keyOf(present[i]!))) {
        this.#index.list.delete(head + i, 1)
        present.splice(i, 1)
      }
  }

  #insert(at: number, block: ReadBlock): void {
    const content = readable(block)
    const map = this.#index.list.insertContainer(at, new LoroMap())
    fillBlock(map, content)
    this.#index.inserted(map)
  }

  #change(at: number, before: ReadBlock, after: ReadBlock): void {
    const [old, block] = [readable(before), readable(after)]
    this.#index.changing(block.id)
    const map = asMap(this.#index.list.get(at))!
    if (old.type !== block.type || JSON.stringify(old.attrs) !== JSON.stringify(block.attrs)) {
      map.set('type', block.type)
      map.set('attrs', block.attrs)
    }
    if (block.type === 'divider') return
    // The block keeps the content of its former type: another person may write in it at the same time.
    if (block.type !== 'table') replaceText(blockTextOf(map) ?? map.setContainer('text', new LoroText()), block.text)
    else if (old.type !== 'table' || cellsOf(old) !== cellsOf(block))
      fillTable(map.setContainer('rows', new LoroList()), block.rows)
    else
      for (const [row, cells] of block.rows.entries())
        for (const [column, { text }] of cells.entries())
          replaceText(cellText(map, { blockId: block.id, row, column }), text)
  }

  /**
   * Makes the document have the content of an earlier version, by new changes.
   *
   * @param frontier as the view of a document has it
   * @throws if the frontier is malformed, or of another document
   */
  restore(frontier: string): void {
    const items = parseFrontier(frontier)
    if (items === null) throw new Error('the version is malformed: reload the page')
    const ids = items.map(({ peer, counter }) => ({ peer: `${peer}` as PeerID, counter }))
    this.#index.importing(() => {
      this.#doc.revertTo(ids)
      this.#commit()
    })
    this.#blocks = this.#index.blocks()
  }

  #commit(): void {
    this.#doc.commit()
    const made = this.#doc.oplogVersion().get(this.#doc.peerIdStr) ?? 0
    if (made > (this.#commits.at(-1) ?? this.#sent)) this.#commits.push(made)
  }

  /**
   * The first changes that the server does not have, with the call for when it has them. Null: it has all. The gateway
   * takes at most 250,000 operations at once, so many changes come in parts. A part ends where a change of blocks ends.
   *
   * @param most operations in one part, unless a single change has more
   */
  unsent(most = 60_000): { readonly update: Uint8Array; readonly sent: () => void } | null {
    const [first] = this.#commits
    if (first === undefined) return null
    const end = this.#commits.findLast((made) => made - this.#sent <= most) ?? first
    const id = { peer: this.#doc.peerIdStr, counter: this.#sent }
    const update = this.#doc.export({ mode: 'updates-in-range', spans: [{ id, len: end - this.#sent }] })
    const sent = () => {
      this.#sent = end
      this.#commits = this.#commits.filter((made) => made > end)
    }
    return { update, sent }
  }

  /** The document with its history, as the server exports it. */
  snapshot(): Uint8Array {
    return this.#doc.export({ mode: 'snapshot' })
  }

  free(): void {
    this.#index.free()
    this.#doc.free()
  }
}

/** What identifies a block. Unreadable blocks can have no id, or that of another block. */
const keyOf = (block: ReadBlock): unknown => (block.type === 'unreadable' ? block : block.id)

function readable(block: ReadBlock): DocumentBlock {
  if (block.type === 'unreadable') throw new Error('a block outside the document model cannot be written')
  return block
}

/** The cells of a table without their texts. */
const cellsOf = ({ rows }: DocumentBlock & { readonly type: 'table' }): string =>
  JSON.stringify(rows.map((row) => row.map(({ text: _, ...cell }) => cell)))
