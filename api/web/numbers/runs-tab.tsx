import type { Cost } from '../../app/schemas/cost.ts'
import type { Numbers } from '../../app/schemas/numbers.ts'
import { ResultTable } from '../audit/ask/result-table.tsx'
import { api, take } from '../client/api.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { Chart } from './chart.tsx'
import { Tile, times, type Which } from './cost-tab.tsx'
import { daysOf } from './days.ts'

const MOST = '1000'

/** How runs ended, and the recoveries among them. */
export function RunsTab({ numbers, cost, which }: { numbers: Numbers; cost: Cost; which: Which }) {
  const days = daysOf(cost, numbers)
  const sum = (of: 'started' | 'completed' | 'failed') => days.reduce((all, day) => all + day[of], 0)
  return (
    <>
      <dl class="tiles">
        <Tile name="Started" value={String(sum('started'))} more="" />
        <Tile name="Completed" value={String(sum('completed'))} more="" />
        <Tile name="Failed" value={String(sum('failed'))} more="" />
        <Tile
          name="In recovery"
          value={String(numbers.recoveries.underWay)}
          more={`${numbers.recoveries.failed} failed in it`}
        />
      </dl>
      <div class="charts">
        <Chart
          title="Runs by day (UTC)"
          times={times(days)}
          series={[
            { label: 'started', tone: 'a', values: days.map((day) => day.started) },
            { label: 'completed', tone: 'b', values: days.map((day) => day.completed) },
            { label: 'failed', tone: 'c', values: days.map((day) => day.failed) },
          ]}
          format={String}
        />
      </div>
      <h2>Runs by day</h2>
      <DataTable
        label="Runs by day"
        columns={[{ name: 'day' }, { name: 'started' }, { name: 'completed' }, { name: 'failed' }]}
        rows={days.toReversed().map((day) => [day.day, day.started, day.completed, day.failed])}
      />
      <h2>Recoveries: why, and what became of them</h2>
      <Recoveries which={which} />
    </>
  )
}

/** From the events of the log: tables do not keep how a recovery went. */
function Recoveries({ which: { run } }: { which: Which }) {
  const found = useLoaded(`recoveries ${run}`, async () => {
    const { questions } = await take(api.v1.sql.questions.$get({}))
    const { sql } = questions.find(({ name }) => name === 'recoveries')!
    return take(api.v1.sql.$post({ json: { sql, limit: Number(MOST) } }))
  })
  return (
    <Loaded of={found}>
      {({ rows, ...answer }) => {
        const ours = run === undefined ? rows : rows.filter((row) => row[1] === run)
        return ours.length === 0 ? (
          <p class="quiet">No agent has come to its last turns.</p>
        ) : (
          <ResultTable label="Recoveries" answer={{ ...answer, rows: ours }} />
        )
      }}
    </Loaded>
  )
}
