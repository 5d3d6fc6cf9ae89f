import type { z } from 'zod'
import { dollars } from '../../cli/output/units.ts'
import { take } from '../../http/answers.ts'
import type { NumbersQuery } from '../../operations/numbers/schemas.ts'
import { api } from '../client/api.ts'
import { DataTable } from '../parts/data-table.tsx'
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
export function Causes({ which: { run, since } }: { which: z.input<typeof NumbersQuery> }) {
  const query = { ...(run === undefined ? {} : { run }), ...(since === undefined ? {} : { from: since }) }
  const found = useLoaded(`causes ${JSON.stringify(query)}`, () =>
    take(api.v1.ask[':name'].$get({ param: { name: 'cost_by_cause' }, query })),
  )
  return (
    <>
      <h2>By cause (of runs that began in this time)</h2>
      <p class="quiet">Results sent again are estimated: each result by its share of the tokens of later requests.</p>
      <Loaded of={found}>
        {({ rows }) => {
          const most = Math.max(0, ...rows.map((row) => Number(row[5] ?? 0)))
          return (
            <DataTable
              label="Cost by cause"
              columns={[
                { name: 'cause', show: (cell) => TITLES[String(cell)] },
                { name: 'tool' },
                {
                  name: 'dollars',
                  title: 'cost',
                  show: (cell) => (
                    <>
                      <meter aria-hidden="true" min={0} max={most || 1} value={Number(cell)} />{' '}
                      {dollars(Math.round(Number(cell) * 1e9))}
                    </>
                  ),
                },
                { name: 'tokens' },
                { name: 'calls' },
              ]}
              rows={rows.map(([cause, tool, , calls, tokens, money]) => [cause!, tool!, money!, tokens!, calls!])}
            />
          )
        }}
      </Loaded>
    </>
  )
}
