import type { SqlCell, SqlResult } from '../../../operations/sql/auditor.ts'
import { type DataColumn, DataTable } from '../../parts/data-table.tsx'
import { shown } from '../../parts/shown.ts'
import { linkToCall } from '../../run/writers.ts'

/** The screen that a column's value links to. Null: none. */
function target(name: string, value: string, row: (name: string) => SqlCell): string | null {
  const at = row('revision')
  const place = typeof at === 'number' ? `?at=${at}` : ''
  const id = encodeURIComponent(value)
  if (name === 'run_id' || name === 'forked_from') return `/runs/${id}`
  if ((name === 'agent_id' || name === 'thread_id') && !value.startsWith('user:')) {
    const run = row('run_id')
    return typeof run === 'string' ? `/runs/${encodeURIComponent(run)}?agent=${id}${place.replace('?', '&')}` : null
  }
  if (name === 'tool_call_id') {
    const run = row('run_id')
    return typeof run === 'string' ? linkToCall(run, value) : null
  }
  if (name === 'document_id') return `/documents/${id}`
  if (name === 'stream') return `/audit?tab=log&stream=${id}${place.replace('?', '&')}`
  return null
}

/** The rows of an answer. Values with a screen link to it. */
export function ResultTable({ label, answer }: { label: string; answer: Pick<SqlResult, 'columns' | 'rows'> }) {
  const columns = answer.columns.map((name): DataColumn => {
    const show: DataColumn['show'] = (cell, cells) => {
      if (typeof cell !== 'string') return undefined
      const to = target(name, cell, (other) => cells[answer.columns.indexOf(other)] ?? null)
      return to === null ? undefined : (
        <a class="mono" href={to}>
          {shown(cell)}
        </a>
      )
    }
    return { name, show }
  })
  return <DataTable label={label} columns={columns} rows={answer.rows} />
}
