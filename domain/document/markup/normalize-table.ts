import type { Cell } from '../model/block.ts'
import type { TextRun } from '../model/runs.ts'
import { type Canonical, type CanonicalNode, type Misplaced, misplaced } from './canonical.ts'
import { type BlockFlow, flow, isBlock } from './flow.ts'
import { collapsed } from './inline.ts'
import { attributeOf } from './tree.ts'

/** A table and its misplaced content. Drops rows without cells; keeps empty cells. */
export function normalizeTable(part: BlockFlow): Canonical {
  const faults: Misplaced[] = []
  const rows = children(part, ['tr', 'thead', 'tbody'], faults)
    .flatMap((child) => (child.element.name === 'tr' ? [child] : children(child, ['tr'], faults)))
    .map((row) => children(row, ['td', 'th'], faults).map((cell) => cellOf(cell, faults)))
    .filter((row) => row.length > 0)
  const made: readonly CanonicalNode[] = rows.length === 0 ? [] : [{ type: 'table', attrs: {}, rows }]
  return [...made, ...faults]
}

function children({ element, marks }: BlockFlow, names: readonly string[], faults: Misplaced[]): BlockFlow[] {
  return flow(element.children, marks).flatMap((part) => {
    if (isBlock(part) && names.includes(part.element.name)) return [part]
    if (isBlock(part)) faults.push(misplaced(part.element.name, element.name))
    else if (collapsed(part.pieces).length > 0) faults.push(misplaced('text', element.name))
    return []
  })
}

function cellOf({ element, marks }: BlockFlow, faults: Misplaced[]): Cell {
  const span = (name: string) => Number(attributeOf(element, name) ?? 1)
  const text: TextRun[] = []
  for (const part of flow(element.children, marks)) {
    // A paragraph in a cell becomes the cell's text. A cell has one text.
    const inner = isBlock(part) && part.element.name === 'p' ? flow(part.element.children, part.marks) : [part]
    for (const one of inner) {
      const runs = isBlock(one) ? null : collapsed(one.pieces)
      if (runs === null) faults.push(misplaced((one as BlockFlow).element.name, element.name))
      else if (text.length === 0) text.push(...runs)
      else if (runs.length > 0) faults.push(misplaced('text', element.name))
    }
  }
  return { header: element.name === 'th', colspan: span('colspan'), rowspan: span('rowspan'), text }
}
