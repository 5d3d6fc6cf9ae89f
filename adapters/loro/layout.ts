import { type LoroDoc, LoroList, LoroMap, type LoroMovableList, LoroText } from 'loro-crdt'

// Where a document stands in Loro. These names are the storage format: updates contain them.
//
//   blocks: movable list of maps
//     {id, type, attrs, text}   attrs: a JSON object; text: rich text, absent in tables and dividers
//     {id, type, attrs, rows}   tables: list of rows; a row: list of cells {header, colspan, rowspan, text}

export const blocksOf = (doc: LoroDoc): LoroMovableList => doc.getMovableList('blocks')

export const asMap = (value: unknown): LoroMap | null => (value instanceof LoroMap ? value : null)
export const asText = (value: unknown): LoroText | null => (value instanceof LoroText ? value : null)

/** The members of a list, or null where the value is no list. */
export const asList = (value: unknown): unknown[] | null => (value instanceof LoroList ? value.toArray() : null)
