import type { TableName } from '../schema/tables.ts'
import { specOf, tableNames } from '../schema/tables.ts'
import type { Cell, Cells, Change } from './change.ts'
import { clear } from './change.ts'

/** What is left to do to one row: at most a remove, a set and a put, in this order. */
export type RowOp =
  | { readonly kind: 'put'; readonly columns: Record<string, Cell>; readonly birth: Cells }
  | { readonly kind: 'set'; readonly columns: Record<string, Cell> }
  | { readonly kind: 'remove' }

interface Rows {
  /** The agent's old rows go first. */
  cleared: boolean
  readonly rows: Map<string, { readonly key: Cells; readonly ops: RowOp[] }>
}

/** A batch's changes, one entry per row. */
export class Collapsed {
  readonly byTable = new Map<TableName, Map<string, Rows>>()

  /** Adds changes of an agent's stream, in order. */
  add(agent: string, changes: readonly Change[]): void {
    for (const change of changes) this.#take(agent, change)
  }

  /** Forgets everything gathered for an agent and starts its rows from nothing. */
  restart(agent: string): void {
    for (const table of tableNames) {
      this.byTable.get(table)?.delete(agent)
      this.#take(agent, clear(table))
    }
  }

  #take(agent: string, change: Change): void {
    const rows = this.#rowsOf(change.table, agent)
    if (change.kind === 'clear') {
      rows.cleared = true
      rows.rows.clear()
      return
    }
    const id = keyText(change.table, change.key)
    let row = rows.rows.get(id)
    if (!row) {
      // After a clear there is nothing to set and nothing to remove.
      if (rows.cleared && change.kind !== 'put') return
      row = { key: change.key, ops: [] }
      rows.rows.set(id, row)
    }
    merge(row.ops, change)
  }

  #rowsOf(table: TableName, agent: string): Rows {
    let agents = this.byTable.get(table)
    if (!agents) {
      agents = new Map()
      this.byTable.set(table, agents)
    }
    let rows = agents.get(agent)
    if (!rows) {
      rows = { cleared: false, rows: new Map() }
      agents.set(agent, rows)
    }
    return rows
  }
}

function keyText(table: TableName, key: Cells): string {
  const names = specOf(table).key
  let text = ''
  for (const name of names) text += `${String(key[name])}\u0000`
  return text
}

// The columns of an op are its own and grow in place: most events touch the same few rows of their agent.
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
    // A put after a set is not merged into it: whether the set counts depends on the row's being there.
    ops.push({ kind: 'put', columns: { ...change.columns }, birth: change.birth })
  }
}
