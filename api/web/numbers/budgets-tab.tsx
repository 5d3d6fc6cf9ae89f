import type { Numbers } from '../../operations/numbers/schemas.ts'
import { DataTable } from '../parts/data-table.tsx'
import { money, percent, short } from '../parts/format.ts'

type Budget = Numbers['budgets'][number]

/** The spent and reserved share of a budget: the greater one of money and tokens. */
const used = ({
  tokens,
  spentTokens,
  reservedTokens,
  nanoDollars,
  spentNanoDollars,
  reservedNanoDollars,
}: Budget): number =>
  Math.max(
    tokens ? (spentTokens + reservedTokens) / tokens : 0,
    nanoDollars ? (spentNanoDollars + reservedNanoDollars) / nanoDollars : 0,
  )

const moneyCell = (cell: unknown) => (cell === null ? undefined : money(Number(cell)))

/** The budgets of runs: spent, reserved and left. */
export function BudgetsTab({ numbers: { budgets } }: { numbers: Numbers }) {
  if (budgets.length === 0)
    return (
      <p class="quiet">
        No run of this time has a budget. <a href="/start">Start a run</a> with a limit of money or tokens, or give it
        on the command line: <code>keepup run --budget-usd 2</code>.
      </p>
    )
  return (
    <DataTable
      label="Budgets"
      columns={[
        {
          name: 'run_id',
          title: 'run',
          show: (cell) => (
            <a class="mono" href={`/runs/${cell}`}>
              {short(String(cell))}
            </a>
          ),
        },
        { name: 'status' },
        {
          name: 'used',
          show: (cell) => (
            <span class="meter">
              <meter min={0} max={100} high={90} value={Number(cell)} aria-label={`${cell} % used`} />{' '}
              {percent(Number(cell) / 100)}
            </span>
          ),
        },
        { name: 'nano_dollars', title: 'money limit', show: moneyCell },
        { name: 'spent_nano_dollars', title: 'money spent', show: moneyCell },
        { name: 'reserved_nano_dollars', title: 'money reserved', show: moneyCell },
        { name: 'tokens', title: 'token limit' },
        { name: 'spent_tokens', title: 'tokens spent' },
        { name: 'reserved_tokens', title: 'tokens reserved' },
      ]}
      rows={budgets.map((one) => [
        one.runId,
        one.status,
        Math.round(100 * used(one)),
        one.nanoDollars,
        one.spentNanoDollars,
        one.reservedNanoDollars,
        one.tokens,
        one.spentTokens,
        one.reservedTokens,
      ])}
    />
  )
}
