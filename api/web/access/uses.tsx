import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'

const MOST = 500

const SQL = `select recorded_at, type, coalesce(principal, key) as who, operation, run_id, reason, address, count
  from access_uses order by recorded_at desc, revision desc limit ${MOST}`

/** The last recorded reads, requests, refusals and failed logins. */
export function Uses() {
  const found = useLoaded('uses', () => take(api.v1.sql.$post({ json: { sql: SQL } })))
  return (
    <section>
      <p class="quiet">
        The last {MOST} records. Reads and refusals are counted and recorded once a minute. What people start, decide
        and change is in the events of the runs, each with the name of its principal.
      </p>
      <Loaded of={found}>
        {({ columns, rows }) => (
          <DataTable
            empty="Nobody has read or been refused anything yet: open a run, and its read is counted here within a minute."
            label="Who did what"
            columns={columns.map((name) => ({ name }))}
            rows={rows}
          />
        )}
      </Loaded>
    </section>
  )
}
