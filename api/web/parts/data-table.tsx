import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { SqlCell } from '../../operations/sql/auditor.ts'
import { csvOf, ndjsonOf } from '../../operations/sql/formats.ts'
import { instant, isInstant, number } from './format.ts'
import { save } from './save.ts'
import { shown } from './shown.ts'
import { Foreign } from './text.tsx'

/** The most rows in the DOM at first. */
const MOST = 200
const TEXT = 300

export interface DataColumn {
  readonly name: string
  /** Absent: the name. */
  readonly title?: string
  /** Absent: the default rendering of {@link Cell}. */
  readonly show?: (cell: SqlCell, row: readonly SqlCell[]) => ComponentChildren
}

export interface DataTableProps {
  /** Names the rows for screen readers, and is the start of the file name of a download. */
  readonly label: string
  readonly columns: readonly DataColumn[]
  readonly rows: readonly (readonly SqlCell[])[]
  /** The text of a table without rows: its purpose, and how to add the first row. */
  readonly empty?: ComponentChildren
}

const compare = (a: SqlCell, b: SqlCell): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0
}

/** A sortable table. A person can download the rows as CSV or NDJSON in the current order. */
export function DataTable({ label, columns, rows, empty = 'There are no rows.' }: DataTableProps) {
  const [sort, setSort] = useState<{ at: number; by: 1 | -1 } | null>(null)
  const [most, setMost] = useState(MOST)
  const sorted = sort === null ? rows : [...rows].sort((a, b) => sort.by * compare(a[sort.at]!, b[sort.at]!))
  const numbers = columns.map(
    (_, i) => rows.length > 0 && rows.every((row) => row[i] === null || typeof row[i] === 'number'),
  )
  const table = { columns: columns.map(({ name }) => name), rows: sorted }
  const file = label.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const sortBy = (at: number) => setSort(sort?.at === at ? (sort.by === 1 ? { at, by: -1 } : null) : { at, by: 1 })
  if (rows.length === 0) return <p class="quiet">{empty}</p>
  return (
    <div class="data">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <section class="data-box" tabIndex={0} aria-label={label}>
        <table class="data-table">
          <caption class="unseen">{label}</caption>
          <thead>
            <tr>
              {columns.map(({ name, title = name }, at) => (
                <th
                  key={name + at}
                  scope="col"
                  class={numbers[at] ? 'num' : ''}
                  aria-sort={sort?.at === at ? (sort.by === 1 ? 'ascending' : 'descending') : undefined}
                >
                  <button type="button" class="plain" onClick={() => sortBy(at)}>
                    {shown(title)}
                    <span aria-hidden="true">{sort?.at === at ? (sort.by === 1 ? ' ▲' : ' ▼') : ''}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, most).map((row, n) => (
              <tr key={n}>
                {row.map((cell, at) => (
                  <td key={at} class={numbers[at] ? 'num' : ''}>
                    {columns[at]?.show?.(cell, row) ?? <Cell cell={cell} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="data-foot">
        {sorted.length > most && (
          <button type="button" class="link" onClick={() => setMost(most * 5)}>
            {number(sorted.length - most)} more rows
          </button>
        )}
        <button type="button" class="plain" onClick={() => save(`${file}.csv`, 'text/csv', csvOf(table))}>
          CSV
        </button>
        <button
          type="button"
          class="plain"
          onClick={() => save(`${file}.ndjson`, 'application/x-ndjson', ndjsonOf(table))}
        >
          NDJSON
        </button>
      </p>
    </div>
  )
}

/** A cell with untrusted content. Shows plain text, and truncates a long text until a person expands it. */
function Cell({ cell }: { cell: SqlCell }) {
  const [whole, setWhole] = useState(false)
  if (cell === null) return <span class="quiet">–</span>
  if (typeof cell === 'number') return <>{number(cell)}</>
  if (isInstant(cell))
    return (
      <time class="instant" dateTime={cell} title={instant(cell)}>
        {cell}
      </time>
    )
  const isLong = cell.length > TEXT
  return (
    <>
      {isLong && !whole ? <bdi class="foreign">{shown(`${cell.slice(0, TEXT)}…`)}</bdi> : <Foreign text={cell} />}
      {isLong && !whole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          all
        </button>
      )}
    </>
  )
}
