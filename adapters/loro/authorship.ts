import type { LoroText } from 'loro-crdt'
import type { AuthoredPart } from '../../domain/ports/index.ts'

/** The operations that wrote each part of a text. Adjacent characters of one change form one part. */
export function authoredParts(text: LoroText): readonly AuthoredPart[] {
  const parts: { text: string; peer: string; counter: number; chars: number }[] = []
  let at = 0
  for (const char of text.toString()) {
    const cursor = text.getCursor(at, 0)
    const id = cursor?.pos()
    cursor?.free()
    at += char.length
    if (id === undefined) continue
    const last = parts.at(-1)
    if (last !== undefined && last.peer === id.peer && last.counter + last.chars === id.counter) {
      last.text += char
      last.chars += 1
    } else parts.push({ text: char, peer: id.peer, counter: id.counter, chars: 1 })
  }
  return parts
}
