import { Cursor, type LoroDoc, type LoroText } from 'loro-crdt'
import type { TextAnchor, TextRange } from '../../domain/ports/index.ts'

// Loro cursors name a character and follow it. The end of a range names the last character, so that text typed directly
// after the range stays outside.

/** The anchor of a range of a text in UTF-16 units. The range is not empty. */
export function anchorOf(text: LoroText, { start, end }: Omit<TextRange, 'text'>): TextAnchor {
  const isPair = /[\udc00-\udfff]/.test(text.slice(end - 1, end))
  return { start: encoded(text, start), end: encoded(text, end - (isPair ? 2 : 1)) }
}

function encoded(text: LoroText, at: number): string {
  const cursor = text.getCursor(at, 0)
  if (cursor === undefined) throw new Error('the text has no such place')
  const bytes = cursor.encode()
  cursor.free()
  return btoa(String.fromCharCode(...bytes))
}

/**
 * The present range of an anchor. Empty: its characters were deleted. Null: the anchor is of another text, or names
 * characters that the replica does not have.
 */
export function rangeOf(doc: LoroDoc, text: LoroText, anchor: TextAnchor): TextRange | null {
  const whole = text.toString()
  const start = placeOf(doc, text, anchor.start)
  const last = placeOf(doc, text, anchor.end)
  if (start === null || last === null) return null
  const length = last.isDeleted ? 0 : (whole.codePointAt(last.at) ?? 0) > 0xffff ? 2 : 1
  const end = Math.max(start.at, last.at + length)
  return { start: start.at, end, text: whole.slice(start.at, end) }
}

function placeOf(doc: LoroDoc, text: LoroText, anchor: string): { at: number; isDeleted: boolean } | null {
  const cursor = Cursor.decode(Uint8Array.from(atob(anchor), (letter) => letter.charCodeAt(0)))
  try {
    if (cursor.containerId() !== text.id) return null
    const found = doc.getCursorPos(cursor)
    if (found === undefined) return null
    const isDeleted = found.update !== undefined
    found.update?.free()
    return { at: found.offset, isDeleted }
  } catch {
    // Loro throws for a character that the replica does not have.
    return null
  } finally {
    cursor.free()
  }
}
