import { type LoroDoc, LoroList, LoroMap, type LoroMovableList, LoroText } from 'loro-crdt'

// The structure of a document in Loro. These names are the storage format: updates contain them.
//
// - `blocks`: a movable list of blocks. A block is a map.
// - Most blocks: `{id, type, attrs, text}`. `attrs` is a JSON object. `text` is rich text, absent in tables and
//   dividers.
// - Tables: `{id, type, attrs, rows}`. `rows` is a list of rows. A row is a list of cells
//   `{header, colspan, rowspan, text}`.

export const blocksOf = (doc: LoroDoc): LoroMovableList => doc.getMovableList('blocks')

export const asMap = (value: unknown): LoroMap | null => (value instanceof LoroMap ? value : null)
export const asLoroText = (value: unknown): LoroText | null => (value instanceof LoroText ? value : null)

/** The members of a list; null if the value is not a list. */
export const asList = (value: unknown): unknown[] | null => (value instanceof LoroList ? value.toArray() : null)
