import { LoroDoc, type LoroList, type LoroMap, type LoroText, type PeerID } from 'loro-crdt'
import { configureStyles } from '../../../adapters/loro/styles.ts'

/** A person's replica of a document: plain Loro without the gateway's adapter. */
export class Person {
  readonly doc = new LoroDoc()

  constructor(peer: string, snapshot?: Uint8Array) {
    configureStyles(this.doc)
    if (snapshot !== undefined) this.doc.import(snapshot)
    this.doc.setPeerId(peer as PeerID)
  }

  get blocks() {
    return this.doc.getMovableList('blocks')
  }

  block(at: number): LoroMap {
    return this.blocks.get(at) as LoroMap
  }

  text(at: number): LoroText {
    return this.block(at).get('text') as LoroText
  }

  cell(at: number, row: number, column: number): LoroText {
    const rows = (this.block(at).get('rows') as LoroList).get(row) as LoroList
    return (rows.get(column) as LoroMap).get('text') as LoroText
  }

  /** The update of a change. */
  change(make: () => unknown): Uint8Array {
    const from = this.doc.oplogVersion()
    make()
    this.doc.commit()
    return this.doc.export({ mode: 'update', from })
  }
}
