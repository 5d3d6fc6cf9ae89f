import type { ContainerID, LoroDoc, VersionVector } from 'loro-crdt'
import { asText } from './layout.ts'

/**
 * Every text in the operations since a version, also in those that later ones undo, and the whole of each text that they
 * change: what was typed letter by letter stands in one piece there.
 */
export function wordsSince(doc: LoroDoc, before: VersionVector): readonly string[] {
  const { changes } = doc.exportJsonUpdates(before, undefined, false)
  const words: string[] = []
  const touched = new Set<ContainerID>()
  for (const { ops } of changes) {
    for (const { container, content } of ops) {
      touched.add(container)
      collect(content, words)
    }
  }
  for (const id of touched) {
    const text = asText(doc.getContainerById(id))
    if (text !== null) words.push(text.toString())
  }
  return words
}

function collect(value: unknown, into: string[]): void {
  if (typeof value === 'string') into.push(value)
  else if (Array.isArray(value)) for (const item of value) collect(item, into)
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value)) {
      into.push(key)
      collect(item, into)
    }
}
