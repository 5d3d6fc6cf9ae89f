import { take } from '../../http/answers.ts'
import type { Numbers } from '../../operations/numbers/schemas.ts'
import { api } from '../client/api.ts'
import { DataTable } from '../parts/data-table.tsx'
import { span } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'

/** The health of a model without a call of this process. */
const NOT_SEEN = 'not seen'

/** The router's decisions, and the state of the models. */
export function RoutingTab({ numbers }: { numbers: Numbers }) {
  const found = useLoaded('models', () => take(api.v1.models.$get({})))
  const ask = (name: string) => numbers.models.find((row) => row.name === name)
  return (
    <>
      <h2>Decisions of the router</h2>
      <DataTable
        label="Decisions of the router"
        empty={
          <>
            The router has chosen no model yet. <a href="/start">Start a run</a>.
          </>
        }
        columns={[
          { name: 'requested' },
          {
            name: 'resolved',
            show: (cell, row) => (cell !== row[0] ? <strong>{shown(String(cell))}</strong> : undefined),
          },
          { name: 'policy' },
          { name: 'purpose' },
          { name: 'decisions' },
        ]}
        rows={numbers.routes.map((row) => [row.requested, row.resolved, row.policy, row.purpose, row.count])}
      />
      <h2>Health of the models, as this process has seen them</h2>
      <Loaded of={found}>
        {({ models, choice }) => (
          <>
            <p>
              A run that names no model would have <span class="mono">{shown(choice.resolved)}</span>:{' '}
              <bdi>{shown(choice.reason)}</bdi>
            </p>
            <DataTable
              label="Health of the models"
              empty={
                <>
                  There are no models. The settings name them: <code>keepup models</code>.
                </>
              }
              columns={[
                { name: 'model' },
                {
                  name: 'health',
                  show: (cell) =>
                    cell === 'healthy' ? undefined : cell === NOT_SEEN ? (
                      <span class="quiet">{NOT_SEEN}</span>
                    ) : (
                      <strong>{shown(String(cell))}</strong>
                    ),
                },
                { name: 'recent', title: 'calls of this process' },
                { name: 'errors' },
                { name: 'timeouts' },
                {
                  name: 'median_ms',
                  title: 'median',
                  show: (cell) => (cell === null ? undefined : span(Number(cell))),
                },
                { name: 'attempts', title: 'attempts in this time' },
                { name: 'failed' },
              ]}
              rows={models.map(({ id, figures }) => [
                id,
                figures?.health ?? NOT_SEEN,
                figures?.calls ?? 0,
                figures?.errors ?? 0,
                figures?.timeouts ?? 0,
                figures?.medianMs ?? null,
                ask(id)?.calls ?? 0,
                ask(id)?.failed ?? 0,
              ])}
            />
          </>
        )}
      </Loaded>
    </>
  )
}
