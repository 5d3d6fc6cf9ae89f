import { LoroDoc, type LoroMap, type LoroText, type PeerID } from 'loro-crdt'
import { applyEdits } from '../../../adapters/loro/apply-edits.ts'
import { BlockIndex } from '../../../adapters/loro/block-index.ts'
import { configureStyles } from '../../../adapters/loro/styles.ts'
import type { DocumentBlock } from '../../../domain/document/model/block.ts'
import { atOnce } from '../../../domain/log/steps.ts'

/** The gateway's own peer in the measured documents. */
export const GATEWAY = '1'
const BLOCKS = 200

/** A sentence of twelve words, of which edit number `n` changes one. */
export const sentence = (n: number): string =>
  Array.from({ length: 12 }, (_, i) => (i === n % 12 ? `edit${n}` : `word${i}`)).join(' ')

export const blockOf = (n: number): string => `b${n % BLOCKS}`

/** A document of 200 paragraphs with a history of `edits` commits, each of which replaced one word. */
export function grow(edits: number): { doc: LoroDoc; updates: Uint8Array[] } {
  const doc = new LoroDoc()
  configureStyles(doc)
  doc.setPeerId(GATEWAY as PeerID)
  const updates: Uint8Array[] = []
  const commit = (make: () => void) => {
    const from = doc.oplogVersion()
    make()
    doc.commit()
    updates.push(doc.export({ mode: 'update', from }))
  }
  const blocks = Array.from(
    { length: BLOCKS },
    (_, i): DocumentBlock => ({ id: `b${i}`, type: 'paragraph', attrs: {}, text: [{ text: sentence(0), marks: {} }] }),
  )
  commit(() => atOnce(applyEdits([{ kind: 'insert', after: null, blocks }], new BlockIndex(doc))))
  const texts = blocks.map((_, i) => (doc.getMovableList('blocks').get(i) as LoroMap).get('text') as LoroText)
  for (let n = 1; n < edits; n++) commit(() => bareEdit(texts[n % BLOCKS]!, n))
  return { doc, updates }
}

/** The change of one word, made by hand on a text: the least that any gateway does. */
export function bareEdit(text: LoroText, n: number): void {
  const at =
    text
      .toString()
      .split(' ')
      .slice(0, n % 12)
      .join(' ').length + (n % 12 === 0 ? 0 : 1)
  const old = text.toString().slice(at).split(' ')[0]!
  text.delete(at, old.length)
  text.insert(at, `edit${n}`)
}
