import { type Delta, LoroList, LoroMap, LoroText } from 'loro-crdt'
import type { Cell, DocumentBlock } from '../../domain/document/model/block.ts'
import type { Edit } from '../../domain/document/model/edits.ts'
import { MARKS, type TextRun } from '../../domain/document/model/runs.ts'
import type { BlockIndex } from './block-index.ts'
import { toDelta } from './styles.ts'
import { rangeChange, type TextDelta, textChange } from './text-change.ts'

type RangeEdit = Extract<Edit, { readonly kind: 'replace_range' }>

/** The number of blocks or edits between two pauses. */
const AT_ONCE = 100

/**
 * Applies edits to a replica in order, without a commit, and pauses between parts. Throws if an edit is not possible.
 */
export function* applyEdits(edits: readonly Edit[], index: BlockIndex): Generator<undefined, void> {
  for (const [n, edit] of edits.entries()) {
    if (n % AT_ONCE === AT_ONCE - 1) yield
    if (edit.kind === 'replace') {
      index.changing(edit.spanId)
      replaceText(index.text(edit.spanId), edit.runs)
    } else if (edit.kind === 'replace_range') {
      index.changing(edit.spanId)
      replaceRange(index.text(edit.spanId), edit)
    } else if (edit.kind === 'delete') index.list.delete(index.position(edit.blockId), 1)
    else yield* insert(index, edit.after === null ? 0 : index.position(edit.after) + 1, edit.blocks)
  }
}

/** Makes a text have these runs by the smallest change. */
export function replaceText(text: LoroText | null, runs: readonly TextRun[]): void {
  if (text === null) throw new Error('the span has no text')
  const before = text.toDelta()
  write(text, before, textChange(before, toDelta(runs), MARKS))
}

/** Replaces a range of a text by the smallest change. */
function replaceRange(text: LoroText | null, { start, end, text: wanted }: RangeEdit): void {
  if (text === null) throw new Error('the span has no text')
  const before = text.toDelta()
  write(text, before, rangeChange(before, { start, end }, wanted))
}

function write(text: LoroText, before: TextDelta, change: Delta<string>[]): void {
  if (change.length === 0) return
  // Deltas cost Loro twice as much as plain insertions and deletions.
  if (hasMarks(before) || hasMarks(change)) text.applyDelta(change)
  else applyPlain(text, change)
}

const hasMarks = (delta: readonly Delta<string>[]): boolean =>
  delta.some(({ attributes = {} }) => Object.keys(attributes).length > 0)

function applyPlain(text: LoroText, change: readonly Delta<string>[]): void {
  let at = 0
  for (const part of change) {
    if (part.delete !== undefined) text.delete(at, part.delete)
    else if (part.insert !== undefined) insertText(text, at, part.insert)
    at += part.retain ?? part.insert?.length ?? 0
  }
}

/** The length of an inserted piece, in UTF-16 units. */
const PIECE = 4096

/**
 * Inserts a text in pieces. Loro opens a text in quadratic time of its longest insertion. Inserting the last piece
 * first keeps Loro from joining the pieces.
 */
function insertText(text: LoroText, at: number, inserted: string): void {
  for (let end = inserted.length; end > 0; ) {
    const start = Math.max(0, end - PIECE)
    // Keep a surrogate pair together.
    const from = start > 0 && /^[\udc00-\udfff]/.test(inserted[start]!) ? start - 1 : start
    text.insert(at, inserted.slice(from, end))
    end = from
  }
}

function* insert(index: BlockIndex, at: number, blocks: readonly DocumentBlock[]): Generator<undefined, void> {
  for (const [i, block] of blocks.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) yield
    const map = index.list.insertContainer(at + i, new LoroMap())
    fillBlock(map, block)
    index.inserted(map)
  }
}

/** Writes a block into an empty map. */
export function fillBlock(map: LoroMap, block: DocumentBlock): void {
  map.set('id', block.id)
  map.set('type', block.type)
  map.set('attrs', block.attrs)
  if (block.type === 'table') fillTable(map.setContainer('rows', new LoroList()), block.rows)
  else if (block.type !== 'divider') writeRuns(map, block.text)
}

/** Writes the rows of a table into an empty list. */
export function fillTable(list: LoroList, rows: readonly (readonly Cell[])[]): void {
  for (const row of rows) {
    const cells = list.pushContainer(new LoroList())
    for (const { text, ...attrs } of row) {
      const cell = cells.pushContainer(new LoroMap())
      for (const [key, value] of Object.entries(attrs)) cell.set(key, value)
      writeRuns(cell, text)
    }
  }
}

const writeRuns = (map: LoroMap, runs: readonly TextRun[]): void => {
  const text = map.setContainer('text', new LoroText())
  const delta = toDelta(runs)
  if (hasMarks(delta)) text.applyDelta(delta)
  else applyPlain(text, delta)
}
