import type { z } from 'zod'
import { take } from '../../http/answers.ts'
import type { NumbersQuery } from '../../operations/numbers/schemas.ts'
import { api } from '../client/api.ts'
import { DataTable } from '../parts/data-table.tsx'
import { money } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'

const TITLES: Readonly<Record<string, string>> = {
  resent: 'results sent again',
  lost: 'lost attempts',
  retry: 'retries',
  compression: 'compression',
  abandoned: 'abandoned branches',
  answer: 'answers',
}

/** What the money went for: a bar and the figures for each cause. */
export function Causes({ which, round }: { which: z.input<typeof NumbersQuery>; round: number }) {
  const found = useLoaded(
    `causes ${JSON.stringify(which)}`,
    () => take(api.v1.cost.causes.$get({ query: which })),
    round,
  )
  return (
    <>
      <h2>By cause (of runs that began in this time)</h2>
      <p class="quiet">Results sent again are estimated: each result by its share of the tokens of later requests.</p>
      <Loaded of={found}>
        {({ rows }) => {
          const most = Math.max(0, ...rows.map((row) => row.nanoDollars ?? 0))
          return (
            <DataTable
              label="Cost by cause"
              empty={
                <>
                  No run that began in this time has called a model. <a href="/start">Start a run</a>.
                </>
              }
              columns={[
                { name: 'cause', show: (cell) => TITLES[String(cell)] },
                { name: 'tool' },
                {
                  name: 'nano_dollars',
                  title: 'cost',
                  show: (cell) => (
                    <>
                      <meter aria-hidden="true" min={0} max={most || 1} value={Number(cell)} />{' '}
                      {money(cell === null ? null : Number(cell))}
                    </>
                  ),
                },
                { name: 'tokens' },
                { name: 'calls' },
                { name: 'unpriced', title: 'unknown cost' },
              ]}
              rows={rows.map((row) => [row.cause, row.tool, row.nanoDollars, row.tokens, row.calls, row.unpricedCalls])}
            />
          )
        }}
      </Loaded>
    </>
  )
}
