import { take } from '../../http/answers.ts'
import { momentOf } from '../../operations/moment.ts'
import type { Cost } from '../../operations/numbers/cost-schemas.ts'
import type { Numbers } from '../../operations/numbers/schemas.ts'
import { ResultTable } from '../audit/ask/result-table.tsx'
import { api } from '../client/api.ts'
import { DataTable } from '../parts/data-table.tsx'
import { number } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { Chart } from './chart.tsx'
import { DAY_COLUMN, FigureTile, type NumbersFilter, times } from './cost-tab.tsx'
import { daysOf } from './days.ts'

const MOST = 1_000
/** The index of the phase column in the rows of recoveries. */
const PHASE = 4

/** The results of runs, and the recoveries among them. */
export function RunsTab({ numbers, cost, which }: { numbers: Numbers; cost: Cost; which: NumbersFilter }) {
  const days = daysOf(cost, numbers)
  const sum = (of: 'started' | 'completed' | 'failed') => days.reduce((all, day) => all + day[of], 0)
  return (
    <>
      <dl class="tiles">
        <FigureTile name="Started" value={number(sum('started'))} more="" />
        <FigureTile name="Completed" value={number(sum('completed'))} more="" />
        <FigureTile name="Failed" value={number(sum('failed'))} more="" />
        <FigureTile
          name="In recovery"
          value={number(numbers.recoveries.underWay)}
          more={`${number(numbers.recoveries.failed)} failed in it`}
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
          format={number}
        />
      </div>
      <h2>Runs by day</h2>
      <DataTable
        label="Runs by day"
        empty={
          <>
            No run began or ended in this time. <a href="/start">Start a run</a>.
          </>
        }
        columns={[DAY_COLUMN, { name: 'started' }, { name: 'completed' }, { name: 'failed' }]}
        rows={days.toReversed().map((day) => [day.day, day.started, day.completed, day.failed])}
      />
      <h2>Recoveries: why, and what became of them</h2>
      <Recoveries which={which} />
    </>
  )
}

/**
 * Counts of started and ended recoveries, then each recovery. The data comes from the events, because the tables do not
 * contain recoveries.
 */
function Recoveries({ which: { run, since } }: { which: NumbersFilter }) {
  const found = useLoaded(`recoveries ${run}`, async () => {
    const query = { limit: `${MOST}`, ...(run === undefined ? {} : { run }) }
    return take(api.v1.ask[':name'].$get({ param: { name: 'recoveries' }, query }))
  })
  return (
    <Loaded of={found}>
      {({ rows, ...answer }) => {
        const from = since === undefined ? '' : (momentOf(since, Date.now()) ?? '')
        const ours = rows.filter(([at]) => String(at) >= from)
        const count = (phase: string) =>
          `${number(ours.filter((row) => row[PHASE] === phase).length)}${answer.more ? ' or more' : ''}`
        return ours.length === 0 ? (
          <p class="quiet">
            No agent has come to its last turns, where a recovery begins. A run with few turns shows one:{' '}
            <code>keepup run --max-turns 3</code>.
          </p>
        ) : (
          <>
            <dl class="tiles">
              <FigureTile name="Recoveries begun" value={count('final_warning')} more="" />
              <FigureTile name="Recoveries succeeded" value={count('succeeded')} more="" />
              <FigureTile name="Recoveries failed" value={count('failed')} more="" />
            </dl>
            <ResultTable label="Recoveries" answer={{ ...answer, rows: ours }} />
          </>
        )
      }}
    </Loaded>
  )
}
