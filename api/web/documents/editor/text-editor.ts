import {
  baseKeymap,
  chainCommands,
  exitCode,
  newlineInCode,
  setBlockType,
  splitBlockAs,
  toggleMark,
} from 'prosemirror-commands'
import { history, redo, undo } from 'prosemirror-history'
import { InputRule, inputRules } from 'prosemirror-inputrules'
import { keymap } from 'prosemirror-keymap'
import type { Attrs, Node, NodeType } from 'prosemirror-model'
import { type Command, EditorState, Plugin, TextSelection, type Transaction } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import type { ReadBlock } from '../../../../domain/ports/index.ts'
import { randomId } from '../../../http/answers.ts'
import type { Caret } from './caret.ts'
import { caretAfter } from './caret-after.ts'
import { cursorsPlugin, type PersonHere, type Place, showPeople } from './cursors.ts'
import { blocksAfter, changedBlocks, docOf, replaceBlocks } from './document-node.ts'
import { blockPositions, commentsPlugin, type MarkedComment, showComments, startOfSpan } from './marked-comments.ts'
import { clipboard, schema } from './schema.ts'

interface Options {
  readonly blocks: readonly ReadBlock[]
  readonly label: string
  /** The person changed the document to these blocks. */
  write(blocks: readonly ReadBlock[]): void
  /** The person's selection changed. */
  moved(place: Place | null): void
  /** The person clicked a text with a comment. */
  chosen(id: string): void
  /** The person wants to comment on the selected text. */
  comment(): void
  /** Called with the reason when the editor refuses an action of the person. */
  refused(why: string): void
  /** Called after each change of the editor, so that a toolbar can show its state. */
  changed(): void
}

const REMOTE = 'remote'
/** Characters. The gateway takes 250,000 operations at once, and each character is one. */
const LONGEST_PASTE = 200_000

/** An editor of a list of blocks. */
export class TextEditor {
  readonly view: EditorView
  readonly #options: Options
  /** The blocks that the editor shows. */
  #blocks: readonly ReadBlock[]

  constructor(element: HTMLElement, options: Options) {
    this.#options = options
    this.#blocks = options.blocks
    this.view = new EditorView(element, {
      state: EditorState.create({ doc: docOf(options.blocks), plugins: plugins(options) }),
      attributes: {
        'aria-label': options.label,
        'aria-multiline': 'true',
        role: 'textbox',
        class: 'markdown',
        dir: 'auto',
      },
      clipboardSerializer: clipboard,
      handlePaste: (_view, _event, { size }) => {
        const isTooLong = size > LONGEST_PASTE
        if (isTooLong)
          options.refused(`a paste of ${size} characters is too long: paste at most ${LONGEST_PASTE} at once`)
        return isTooLong
      },
      dispatchTransaction: (tr) => this.#dispatch(tr),
    })
  }

  #dispatch(tr: Transaction): void {
    const { state, transactions } = this.view.state.applyTransaction(tr)
    const { selection, doc } = this.view.state
    this.view.updateState(state)
    if (transactions.some((one) => one.docChanged)) {
      this.#blocks = blocksAfter(this.#blocks, doc, state.doc)
      if (tr.getMeta(REMOTE) === undefined) this.#options.write(this.#blocks)
    }
    if (!state.selection.eq(selection) || tr.docChanged) this.#options.moved(placeIn(state))
    this.#options.changed()
  }

  /**
   * Shows changes by others. Keeps the person's undo history and selection. `caret`: the new place of the caret. Null: the
   * character at the caret was deleted. A split of a paragraph deletes characters and inserts copies, so the editor then
   * looks for the copy.
   */
  show(blocks: readonly ReadBlock[], caret: Caret | null = null): void {
    const { tr, doc: before, selection } = this.view.state
    const kept = (after: Node): TextSelection | null => {
      const start = caret === null ? null : startOfSpan(after, blockPositions(after), caret.spanId)
      if (caret !== null && start !== null) return TextSelection.create(after, start + caret.offset)
      const changed = { before, ...changedBlocks(before, after) }
      const [anchor, head] = [selection.anchor, selection.head].map((at) => caretAfter(changed, at))
      return selection instanceof TextSelection && anchor != null && head != null
        ? TextSelection.create(after, anchor, head)
        : null
    }
    try {
      replaceBlocks(tr, blocks)
    } catch {
      // What one person made of a block does not fit what another made of it: show it anew, without the undo history.
      const doc = docOf(blocks)
      const at = kept(doc)
      this.view.updateState(
        EditorState.create({ doc, plugins: this.view.state.plugins, ...(at !== null && { selection: at }) }),
      )
      this.#blocks = blocks
      return
    }
    // A word that the person is typing must not be torn apart.
    const at = tr.docChanged ? kept(tr.doc) : null
    if (at !== null) tr.setSelection(at)
    if (tr.docChanged) this.view.dispatch(tr.setMeta('addToHistory', false).setMeta(REMOTE, true))
    this.#blocks = blocks
  }

  /** Shows where other people write. */
  people(people: readonly PersonHere[]): void {
    this.view.dispatch(showPeople(this.view.state.tr, people))
  }

  /** Marks the texts that comments are about. */
  comments(comments: readonly MarkedComment[]): void {
    this.view.dispatch(showComments(this.view.state.tr, comments))
  }

  run(command: Command): void {
    command(this.view.state, this.view.dispatch, this.view)
    this.view.focus()
  }

  end(): void {
    this.view.destroy()
  }
}

/** The place of the selection. Null: it spans several blocks. */
function placeIn({ selection: { $anchor, $head } }: EditorState): Place | null {
  if ($anchor.depth === 0 || $head.depth === 0 || $anchor.index(0) !== $head.index(0)) return null
  const block = $head.node(1)
  const start = $head.start(1)
  return { block: String(block.attrs.id), anchor: $anchor.pos - start, head: $head.pos - start }
}

function plugins({ chosen, comment }: Pick<Options, 'chosen' | 'comment'>): Plugin[] {
  const { bold, italic, underline, inline_code } = schema.marks
  const { heading, quote, list_item, paragraph } = schema.nodes
  return [
    inputRules({
      rules: [
        blockRule(/^(#{1,6})\s$/, heading, ([, marks = '']) => ({ level: marks.length })),
        blockRule(/^\s*>\s$/, quote, () => ({})),
        blockRule(/^\s*[-+*]\s$/, list_item, () => ({ ordered: false, indent: 0 })),
        blockRule(/^\s*\d+\.\s$/, list_item, () => ({ ordered: true, indent: 0 })),
        blockRule(/^```$/, schema.nodes.code, () => ({ language: null })),
      ],
    }),
    keymap({
      'Mod-z': undo,
      'Mod-y': redo,
      'Shift-Mod-z': redo,
      'Mod-b': toggleMark(bold),
      'Mod-i': toggleMark(italic),
      'Mod-u': toggleMark(underline),
      'Mod-`': toggleMark(inline_code),
      'Mod-Enter': exitCode,
      'Mod-Alt-m': () => {
        comment()
        return true
      },
      'Shift-Enter': lineFeed,
      Tab: indent(1),
      'Shift-Tab': indent(-1),
      Enter: chainCommands(endList, splitItem, newlineInCode, splitBlockAs(nextBlock)),
      Backspace: plainAtStart,
    }),
    keymap(baseKeymap),
    history(),
    newIds,
    cursorsPlugin(),
    commentsPlugin(chosen),
  ]

  function lineFeed(state: EditorState, dispatch?: (tr: Transaction) => void): boolean {
    dispatch?.(state.tr.insertText('\n').scrollIntoView())
    return true
  }

  /** An empty item of a list becomes a paragraph. */
  function endList(state: EditorState, dispatch?: (tr: Transaction) => void): boolean {
    const { $from, empty } = state.selection
    if (!empty || $from.parent.type !== list_item || $from.parent.content.size > 0) return false
    return setKind(paragraph.name, {})(state, dispatch)
  }

  /** An item of a list becomes two. */
  function splitItem(state: EditorState, dispatch?: (tr: Transaction) => void): boolean {
    const { $from, $to } = state.selection
    if ($from.parent.type !== list_item || $from.parent !== $to.parent) return false
    const { type, attrs } = $from.parent
    dispatch?.(state.tr.deleteSelection().split($from.pos, 1, [{ type, attrs }]).scrollIntoView())
    return true
  }

  /** After the end of any other block comes a paragraph. */
  function nextBlock(_: Node, atEnd: boolean) {
    return atEnd ? { type: paragraph, attrs: { id: null } } : null
  }

  /** Backspace at the start of a heading, quote or item makes it a paragraph first. */
  function plainAtStart(state: EditorState, dispatch?: (tr: Transaction) => void): boolean {
    const { $from, empty } = state.selection
    const { type } = $from.parent
    if (!empty || $from.parentOffset > 0 || (type !== heading && type !== quote && type !== list_item)) return false
    return setKind(paragraph.name, {})(state, dispatch)
  }
}

/** Typing a mark of Markdown at the start of a block makes it another block with the same id. */
const blockRule = (pattern: RegExp, type: NodeType, attrsOf: (match: RegExpMatchArray) => Attrs): InputRule =>
  new InputRule(pattern, ({ doc, tr }, match, start, end) => {
    const $start = doc.resolve(start)
    const fits = $start.node(-1).canReplaceWith($start.index(-1), $start.indexAfter(-1), type)
    const { id } = $start.parent.attrs
    return fits ? tr.delete(start, end).setBlockType(start, start, type, { ...attrsOf(match), id }) : null
  })

/** Moves an item of a list in or out. Elsewhere Tab moves the focus, as on every page. */
const indent =
  (by: number): Command =>
  ({ selection: { $from }, tr }, dispatch) => {
    const { parent } = $from
    if (parent.type !== schema.nodes.list_item) return false
    const level = Math.min(8, Math.max(0, Number(parent.attrs.indent) + by))
    dispatch?.(tr.setNodeAttribute($from.before(), 'indent', level))
    return true
  }

/** Gives the selected blocks another type. They keep their ids. */
export const setKind =
  (name: string, attrs: Readonly<Record<string, unknown>>): Command =>
  (state, dispatch) =>
    setBlockType(schema.nodes[name as 'paragraph'], (node: Node) => ({ ...attrs, id: node.attrs.id }))(state, dispatch)

/**
 * Gives new blocks an id: the second part of a block that was split, pasted blocks, and blocks that an undo brings back. A removed
 * id is never used again, because another person may have moved its block at the same time.
 */
const newIds = new Plugin({
  appendTransaction(transactions, before, { doc, tr }) {
    if (!transactions.some((one) => one.docChanged) || transactions.some((one) => one.getMeta(REMOTE))) return null
    const { head, removed, added } = changedBlocks(before.doc, doc)
    // Every other block is the same node as before, so an id of a changed block belongs to a block that it replaces.
    const known = new Set(removed.map(({ attrs }) => attrs.id))
    const holders = new Map<string, Node>()
    for (const node of added) {
      const { id } = node.attrs
      // Of two parts with one id, the one with text keeps it.
      if (id !== null && known.has(id) && !(holders.get(id)?.content.size ?? 0)) holders.set(id, node)
    }
    const isShownEmpty = doc.childCount === 1 && doc.firstChild!.content.size === 0 && before.doc.childCount === 1
    // A copied block can be the same node twice.
    const used = new Set<string>()
    let position = 0
    for (let i = 0; i < head; i++) position += doc.child(i).nodeSize
    for (const node of added) {
      const { id } = node.attrs
      const isWithoutId = node.type === schema.nodes.unreadable || (id === null && isShownEmpty)
      if (id !== null && holders.get(id) === node && !used.has(id)) used.add(id)
      else if (!isWithoutId) tr.setNodeAttribute(position, 'id', randomId())
      position += node.nodeSize
    }
    return tr.docChanged ? tr : null
  },
})
