import type { SqlCell, SqlResult } from '../../../operations/sql/auditor.ts'
import { WhenAgo } from '../../parts/ago.tsx'
import { type DataColumn, DataTable } from '../../parts/data-table.tsx'
import { isInstant } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import { objectMembers, textOrEmpty } from '../../run/calls/call-text.ts'
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

/** The last lines of an output, in lines. */
const LINES = 4

/** The output of a command as a terminal shows it; another output as its text. */
function Output({ text }: { text: string }) {
  let said = text
  try {
    const { stdout, stderr } = objectMembers(JSON.parse(text))
    const both = [textOrEmpty(stdout), textOrEmpty(stderr)].map((one) => one.trimEnd()).filter((one) => one !== '')
    if (stdout !== undefined || stderr !== undefined) said = both.join('\n')
  } catch {
    // The output is no JSON, so it is shown unchanged.
  }
  const lines = said.split('\n')
  return (
    <pre class="output" title={lines.length > LINES ? `the last ${LINES} of ${lines.length} lines` : undefined}>
      <Foreign text={lines.slice(-LINES).join('\n')} most={2_000} />
    </pre>
  )
}

/** The rows of an answer. Values with a screen link to it. */
export function ResultTable({ label, answer }: { label: string; answer: Pick<SqlResult, 'columns' | 'rows'> }) {
  const columns = answer.columns.map((name): DataColumn => {
    const show: DataColumn['show'] = (cell, cells) => {
      if (typeof cell !== 'string') return undefined
      if (name === 'output') return <Output text={cell} />
      if (isInstant(cell))
        return (
          <>
            <span class="instant">{cell}</span>{' '}
            <span class="quiet">
              <WhenAgo at={cell} />
            </span>
          </>
        )
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
