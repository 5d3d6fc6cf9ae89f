import { idOf, kindOf } from '../../../domain/log/owner.ts'
import { specOf, tableNames } from '../schema/tables.ts'
import type { Cells, CellValue, Change } from './change.ts'
import { clear } from './change.ts'

/** An operation on one row. A row has at most a remove, a set and a put, in this order. */
export type RowOp =
  | { readonly kind: 'put'; readonly columns: Record<string, CellValue>; readonly initial: Cells }
  | { readonly kind: 'set'; readonly columns: Record<string, CellValue> }
  | { readonly kind: 'remove' }

interface Rows {
  /** True: the stream's old rows are deleted first. */
  cleared: boolean
  readonly rows: Map<string, { readonly key: Cells; readonly ops: RowOp[] }>
}

/** A batch's changes, merged to one entry per row. */
export class Collapsed {
  /** By table, then by the value of the owner column. */
  readonly byTable = new Map<string, Map<string, Rows>>()

  add(stream: string, changes: readonly Change[]): void {
    for (const change of changes) this.#take(stream, change)
  }

  /** Drops all changes of a stream and starts with no rows. */
  restart(stream: string): void {
    for (const table of tableNames()) {
      if (!canHoldRows(table, stream)) continue
      this.byTable.get(table)?.delete(ownerIn(table, stream))
      this.#take(stream, clear(table))
    }
  }

  /** The rows of a stream in a table after {@link restart}, with default values for columns that no event sets. */
  *rowsOf(table: string, stream: string): Generator<Cells> {
    const { columns } = specOf(table)
    const empty = Object.fromEntries(
      Object.entries(columns).map(([name, kind]) => [name, kind === 'integer!' ? 0 : null]),
    )
    for (const { key, ops } of this.byTable.get(table)?.get(ownerIn(table, stream))?.rows.values() ?? []) {
      const last = ops.at(-1)
      if (last?.kind === 'put') yield { ...empty, ...last.initial, ...last.columns, ...key }
    }
  }

  #take(stream: string, change: Change): void {
    const rows = this.#rowsOf(change.table, ownerIn(change.table, stream))
    if (change.kind === 'clear') {
      rows.cleared = true
      rows.rows.clear()
      return
    }
    const id = keyText(change.table, change.key)
    let row = rows.rows.get(id)
    if (!row) {
      // After a clear there is no row to set or remove.
      if (rows.cleared && change.kind !== 'put') return
      row = { key: change.key, ops: [] }
      rows.rows.set(id, row)
    }
    merge(row.ops, change)
  }

  #rowsOf(table: string, owner: string): Rows {
    let owners = this.byTable.get(table)
    if (!owners) {
      owners = new Map()
      this.byTable.set(table, owners)
    }
    let rows = owners.get(owner)
    if (!rows) {
      rows = { cleared: false, rows: new Map() }
      owners.set(owner, rows)
    }
    return rows
  }
}

/** Whether a table can have rows of a stream: the table has no kind, or the stream's kind. */
export function canHoldRows(table: string, stream: string): boolean {
  const { kind } = specOf(table)
  return kind === undefined || [kind].flat().includes(kindOf(stream))
}

/** A stream's value in the owner column of a table: its id in tables of a kind, otherwise its name. */
export const ownerIn = (table: string, stream: string): string =>
  specOf(table).kind === undefined ? stream : idOf(stream)

function keyText(table: string, key: Cells): string {
  const names = specOf(table).key
  let text = ''
  for (const name of names) text += `${String(key[name])}\u0000`
  return text
}

// Merges in place, because each op owns its columns: most events change the same few rows of their stream.
function merge(ops: RowOp[], change: Exclude<Change, { kind: 'clear' }>): void {
  const last = ops.at(-1)
  if (change.kind === 'remove') {
    ops.length = 0
    ops.push({ kind: 'remove' })
  } else if (change.kind === 'set') {
    if (!last) ops.push({ kind: 'set', columns: { ...change.columns } })
    else if (last.kind !== 'remove') Object.assign(last.columns, change.columns)
  } else if (last?.kind === 'put') {
    Object.assign(last.columns, change.columns)
  } else {
    // A put after a set stays separate: whether the set applies depends on whether the row exists.
    ops.push({ kind: 'put', columns: { ...change.columns }, initial: change.initial })
  }
}
