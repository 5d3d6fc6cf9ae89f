/** A table cell; row and column count from 0. */
export interface CellRef {
  readonly blockId: string
  readonly row: number
  readonly column: number
}

const CELL = /^(.+)\/(0|[1-9]\d{0,5})\/(0|[1-9]\d{0,5})$/s

/** Parses the span id of a table cell. Null: the id of a block. */
export function parseCellId(spanId: string): CellRef | null {
  const match = CELL.exec(spanId)
  return match === null ? null : { blockId: match[1]!, row: Number(match[2]), column: Number(match[3]) }
}

export const cellId = ({ blockId, row, column }: CellRef): string => `${blockId}/${row}/${column}`
