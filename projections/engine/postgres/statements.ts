import type { Cells, CellValue } from '../changes/change.ts'
import type { Collapsed, RowOp } from '../changes/collapse.ts'
import { partsOf } from '../chunks.ts'
import type { TableSpec } from '../schema/columns.ts'
import type { EventRow, StreamRow } from '../schema/database.ts'
import { eventRows } from '../schema/event-rows.ts'
import { ownTables } from '../schema/own-tables.ts'
import { specOf } from '../schema/tables.ts'
import type { Batch } from '../store/store.ts'
import { numbers, texts } from './arrays.ts'

/** A statement for any number of rows, with one array per column. */
export interface Statement {
  readonly text: string
  readonly values: readonly string[]
}

/** The statements that write a batch, in order. Rows share a statement when their order does not matter. */
export function statementsOf({ streams, changes, events, erased, residues }: Batch): Statement[] {
  return [
    ...rowsPut('streams', ownTables.streams, streams as readonly (StreamRow & Cells)[]),
    ...rowsPut('event_rows', eventRows, events as readonly (EventRow & Cells)[]),
    ...emptied(erased),
    ...residuesPut(residues),
    ...changed(changes),
  ]
}

function rowsPut(table: string, spec: TableSpec, rows: readonly Cells[]): Statement[] {
  if (rows.length === 0) return []
  const names = Object.keys(spec.columns)
  const columns = names.filter((name) => !spec.key.includes(name))
  return split(put(table, spec, columns, []), spec, [...spec.key, ...columns], rows)
}

const emptied = (erased: Batch['erased']): Statement[] =>
  erased.length === 0
    ? []
    : [
        {
          text: `update event_rows t set payload = null, current = null
            from unnest($1::text[], $2::bigint[]) as x(stream, revision)
            where t.stream = x.stream and t.revision = x.revision and t.payload is not null`,
          values: [texts(erased.map(({ stream }) => stream)), numbers(erased.map(({ revision }) => revision))],
        },
      ]

// A residue replaces the payload: the log may have emptied the body before its `erased` event is folded.
const BODY = ['payload', 'current']

const residuesPut = (residues: Batch['residues']): Statement[] =>
  residues.length === 0
    ? []
    : split(set('event_rows', eventRows, BODY), eventRows, [...eventRows.key, ...BODY], residues)

interface Group {
  readonly text: string
  readonly columns: readonly string[]
  readonly rows: Cells[]
}

/** Deletes the old rows of restarted streams, then applies the first, second and third operation of each row. */
function changed(changes: Collapsed): Statement[] {
  const statements: Statement[] = []
  for (const [table, owners] of changes.byTable) {
    const spec = specOf(table)
    const cleared: string[] = []
    const turns: Map<string, Group>[] = []
    for (const [owner, { cleared: isCleared, rows }] of owners) {
      if (isCleared) cleared.push(owner)
      for (const { key, ops } of rows.values()) {
        for (const [turn, op] of ops.entries()) {
          turns[turn] ??= new Map()
          gather(turns[turn], table, key, op)
        }
      }
    }
    if (cleared.length > 0) {
      statements.push({ text: `delete from ${table} where ${spec.owner} = any($1::text[])`, values: [texts(cleared)] })
    }
    for (const groups of turns) {
      for (const { text, columns, rows } of groups.values()) statements.push(...split(text, spec, columns, rows))
    }
  }
  return statements
}

function gather(groups: Map<string, Group>, table: string, key: Cells, op: RowOp): void {
  const spec = specOf(table)
  const columns = op.kind === 'remove' ? [] : Object.keys(op.columns)
  if (op.kind === 'set' && columns.length === 0) return
  const initials = op.kind === 'put' ? Object.keys(op.initial).filter((name) => !(name in op.columns)) : []
  const id = `${op.kind}|${columns}|${initials}`
  let group = groups.get(id)
  if (!group) {
    const text =
      op.kind === 'put'
        ? put(table, spec, columns, initials)
        : op.kind === 'set'
          ? set(table, spec, columns)
          : remove(table, spec)
    group = { text, columns: [...spec.key, ...columns, ...initials], rows: [] }
    groups.set(id, group)
  }
  group.rows.push(
    op.kind === 'remove'
      ? key
      : op.kind === 'put'
        ? { ...key, ...op.initial, ...op.columns }
        : { ...key, ...op.columns },
  )
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

const from = ({ columns }: TableSpec, names: readonly string[]) =>
  `unnest(${names.map((name, i) => `$${i + 1}::${columns[name]!.startsWith('integer') ? 'bigint' : 'text'}[]`).join(', ')})`

const matches = ({ key }: TableSpec) => key.map((name) => `t."${name}" = x."${name}"`).join(' and ')

function put(table: string, spec: TableSpec, columns: readonly string[], initials: readonly string[]): string {
  const all = [...spec.key, ...columns, ...initials]
  const updates = columns.map((name) => `"${name}" = excluded."${name}"`)
  const action = updates.length > 0 ? `update set ${updates.join(', ')}` : 'nothing'
  return `insert into ${table} (${quoted(all)}) select * from ${from(spec, all)}
    on conflict (${quoted(spec.key)}) do ${action}`
}

function set(table: string, spec: TableSpec, columns: readonly string[]): string {
  const all = [...spec.key, ...columns]
  const sets = columns.map((name) => `"${name}" = x."${name}"`).join(', ')
  return `update ${table} t set ${sets} from ${from(spec, all)} as x(${quoted(all)}) where ${matches(spec)}`
}

const remove = (table: string, spec: TableSpec) =>
  `delete from ${table} t using ${from(spec, spec.key)} as x(${quoted(spec.key)}) where ${matches(spec)}`

/** Splits a statement, because a stream's rebuilt rows may contain more text than one statement allows. */
const split = (text: string, spec: TableSpec, names: readonly string[], rows: readonly Cells[]): Statement[] =>
  Array.from(partsOf(rows, lengthOf), (part) => ({ text, values: arrays(spec, names, part) }))

function lengthOf(row: Cells): number {
  let length = 0
  for (const name in row) if (typeof row[name] === 'string') length += row[name].length
  return length
}

const arrays = ({ columns }: TableSpec, names: readonly string[], rows: readonly Cells[]): string[] =>
  names.map((name) => {
    const values = rows.map((row): CellValue => row[name] ?? null)
    return columns[name]!.startsWith('integer') ? numbers(values) : texts(values)
  })
