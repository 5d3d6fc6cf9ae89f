import type { Cost } from '../../operations/numbers/cost-schemas.ts'
import type { Measured, Numbers } from '../../operations/numbers/schemas.ts'
import type { SqlCell } from '../../operations/sql/auditor.ts'
import { DataTable } from '../parts/data-table.tsx'
import { percent, span } from '../parts/format.ts'
import { Chart } from './chart.tsx'
import { times } from './cost-tab.tsx'
import { daysOf } from './days.ts'

const time = (cell: SqlCell) => (cell === null ? undefined : span(Number(cell)))

/** Calls, with failures and percentiles of durations. */
export function CallsTab({ numbers, cost }: { numbers: Numbers; cost: Cost }) {
  const days = daysOf(cost, numbers)
  const chart = (title: string, of: 'models' | 'tools') => (
    <Chart
      title={title}
      times={times(days)}
      series={[
        { label: 'half of the calls', tone: 'a', values: days.map((day) => day[of]?.p50 ?? null) },
        { label: '95 %', tone: 'b', values: days.map((day) => day[of]?.p95 ?? null) },
        { label: '99 %', tone: 'c', values: days.map((day) => day[of]?.p99 ?? null) },
      ]}
      format={span}
    />
  )
  return (
    <>
      <div class="charts">
        {chart('Times of model calls by day (UTC)', 'models')}
        {chart('Times of tool calls by day (UTC)', 'tools')}
      </div>
      <Calls title="Models" name="model" rows={numbers.models} />
      <Calls title="Tools" name="tool" rows={numbers.tools} />
      <Codes title="Failed and refused calls of tools" name="tool" rows={numbers.toolFailures} />
      <Codes title="Failed attempts of models" name="model" rows={numbers.modelFailures} />
      <Calls title="Calls of models by day" name="day" rows={numbers.modelDays.toReversed()} />
      <Calls title="Calls of tools by day" name="day" rows={numbers.toolDays.toReversed()} />
    </>
  )
}

function Calls({ title, name, rows }: { title: string; name: string; rows: readonly Measured[] }) {
  return (
    <>
      <h2>{title}</h2>
      <DataTable
        label={title}
        columns={[
          { name, show: (cell) => (cell === '' ? '(none)' : undefined) },
          { name: 'calls' },
          { name: 'failed' },
          { name: 'share', title: 'share failed', show: (cell) => percent(Number(cell) / 100) },
          { name: 'p50_ms', title: 'median', show: time },
          { name: 'p95_ms', title: '95th %', show: time },
          { name: 'p99_ms', title: '99th %', show: time },
          { name: 'most_ms', title: 'longest', show: time },
        ]}
        rows={rows.map((row) => [
          row.name,
          row.calls,
          row.failed,
          (100 * row.failed) / row.calls,
          row.p50,
          row.p95,
          row.p99,
          row.most,
        ])}
      />
    </>
  )
}

function Codes({ title, name, rows }: { title: string; name: string; rows: Numbers['toolFailures'] }) {
  return (
    <>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="quiet">No call failed in this time.</p>
      ) : (
        <DataTable
          label={title}
          columns={[{ name }, { name: 'code' }, { name: 'calls' }]}
          rows={rows.map((row) => [row.name, row.code, row.count])}
        />
      )}
    </>
  )
}
