import type { z } from 'zod'
import { take } from '../../http/answers.ts'
import type { Cost, CostBy } from '../../operations/numbers/cost-schemas.ts'
import type { Numbers, NumbersQuery } from '../../operations/numbers/schemas.ts'
import { api } from '../client/api.ts'
import { type DataColumn, DataTable } from '../parts/data-table.tsx'
import { coarseMoney, compact, day, money, number } from '../parts/format.ts'
import { Loaded, type Loading, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { Causes } from './causes.tsx'
import { Chart } from './chart.tsx'
import { type Day, dayAndModel, daysOf, type ModelCost, modelsByDay } from './days.ts'

export type NumbersFilter = z.input<typeof NumbersQuery>

interface Props {
  readonly numbers: Numbers
  readonly cost: Cost
  readonly which: NumbersFilter
  /** Changes when the figures are loaded again. */
  readonly round: number
}

const PARTS: readonly (readonly [CostBy, string, string])[] = [
  ['model', 'By model', 'model'],
  ['role', 'By role', 'role'],
  ['tool', 'By tool (a turn counts in full for each tool that it called)', 'tool'],
]

export const DAY_COLUMN: DataColumn = {
  name: 'day',
  show: (cell) => (
    <time dateTime={String(cell)} title={String(cell)}>
      {day(String(cell))}
    </time>
  ),
}

export const times = (days: readonly { readonly day: string }[]) => days.map(({ day }) => Date.parse(day) / 1000)

/** The cost and the tokens of model calls. */
export function CostTab({ numbers, cost, which, round }: Props) {
  const days = daysOf(cost, numbers)
  const { total } = cost
  const key = `models by day ${JSON.stringify(which)}`
  const byModel = useLoaded(key, () => take(api.v1.cost.$get({ query: { ...which, by: 'day_model' } })), round)
  return (
    <>
      <dl class="tiles">
        <FigureTile
          name="Cost"
          value={money(total.nanoDollars)}
          more={total.inDoubtNanoDollars > 0 ? `${money(total.inDoubtNanoDollars)} in doubt` : ''}
        />
        <FigureTile
          name="Model calls"
          value={number(total.modelCalls)}
          more={total.unpricedCalls > 0 ? `${number(total.unpricedCalls)} of unknown cost` : ''}
        />
        <FigureTile
          name="Tokens in"
          value={compact(total.inputTokens + total.cacheReadTokens + total.cacheWriteTokens)}
          more={`${compact(total.cacheReadTokens)} from the cache`}
        />
        <FigureTile name="Tokens out" value={compact(total.outputTokens)} more="" />
      </dl>
      <div class="charts">
        <ModelChart of={byModel} days={days} />
        <Chart
          title="Tokens by day (UTC)"
          times={times(days)}
          series={[
            { label: 'in', tone: 'a', values: days.map((day) => day.inputTokens) },
            { label: 'out', tone: 'b', values: days.map((day) => day.outputTokens) },
          ]}
          format={compact}
        />
      </div>
      {PARTS.slice(0, 1).map((part) => (
        <Part key={part[0]} part={part} which={which} />
      ))}
      <h2>By day</h2>
      <DataTable
        label="Cost by day"
        empty={
          <>
            No model was called in this time. <a href="/start">Start a run</a>.
          </>
        }
        columns={[
          DAY_COLUMN,
          { name: 'nano_dollars', title: 'cost', show: (cell) => money(cell === null ? null : Number(cell)) },
          { name: 'input_tokens', title: 'tokens in' },
          { name: 'output_tokens', title: 'tokens out' },
        ]}
        rows={days.toReversed().map((day) => [day.day, day.nanoDollars, day.inputTokens, day.outputTokens])}
      />
      <h2>By day and model</h2>
      <Loaded of={byModel}>{({ rows }) => <ModelTable rows={rows} />}</Loaded>
      <Causes which={which} round={round} />
      {PARTS.slice(1).map((part) => (
        <Part key={part[0]} part={part} which={which} />
      ))}
    </>
  )
}

const TONES = ['a', 'b', 'd', 'e', 'c', 'f']

/** The bars of models on top of each other: each is drawn from zero, and those below it are drawn over it. */
const stacked = (models: readonly ModelCost[]) =>
  models
    .map(({ model, dollars }, nth) => ({
      ...{ label: shown(model), tone: TONES[nth]!, bars: true },
      values: dollars.map((_, day) => models.slice(0, nth + 1).reduce((sum, below) => sum + below.dollars[day]!, 0)),
    }))
    .reverse()

function ModelChart({ of, days }: { of: Loading<Cost>; days: readonly Day[] }) {
  return (
    <Loaded of={of}>
      {({ rows }) => (
        <Chart
          title="Cost by model and day (UTC)"
          times={times(days)}
          series={stacked(modelsByDay(rows, days))}
          format={coarseMoney}
        />
      )}
    </Loaded>
  )
}

/** The figures of the chart of models, the newest day first. */
const ModelTable = ({ rows }: Pick<Cost, 'rows'>) => (
  <DataTable
    label="Cost by day and model"
    empty="No model was called in this time."
    columns={[
      DAY_COLUMN,
      { name: 'model' },
      { name: 'nano_dollars', title: 'cost', show: (cell) => money(cell === null ? null : Number(cell)) },
    ]}
    rows={rows
      .map(({ name, nanoDollars }) => [...dayAndModel(name), nanoDollars] as const)
      .sort(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0))}
  />
)

export const FigureTile = ({ name, value, more }: { name: string; value: string; more: string }) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd>
      {value} <span class="quiet">{more}</span>
    </dd>
  </div>
)

function Part({ part: [by, title, name], which }: { part: (typeof PARTS)[number]; which: NumbersFilter }) {
  const found = useLoaded(`${by} ${JSON.stringify(which)}`, () => take(api.v1.cost.$get({ query: { ...which, by } })))
  return (
    <>
      <h2>{title}</h2>
      <Loaded of={found}>
        {({ rows }) => (
          <DataTable
            label={`Cost by ${by}`}
            empty={
              <>
                No model was called in this time. <a href="/start">Start a run</a>.
              </>
            }
            columns={[
              {
                name,
                ...(by === 'tool' || by === 'role' ? { show: (cell) => (cell === '' ? '(none)' : undefined) } : {}),
              },
              { name: 'nano_dollars', title: 'cost', show: (cell) => money(Number(cell)) },
              { name: 'calls' },
              { name: 'input_tokens', title: 'tokens in' },
              { name: 'cache_read_tokens', title: 'from cache' },
              { name: 'output_tokens', title: 'tokens out' },
              { name: 'unpriced', title: 'unknown cost' },
            ]}
            rows={rows.map((row) => [
              row.name,
              row.nanoDollars,
              row.modelCalls,
              row.inputTokens + row.cacheReadTokens + row.cacheWriteTokens,
              row.cacheReadTokens,
              row.outputTokens,
              row.unpricedCalls,
            ])}
          />
        )}
      </Loaded>
    </>
  )
}
