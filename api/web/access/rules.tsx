import type { z } from 'zod'
import { take } from '../../http/answers.ts'
import type { AccessView } from '../../operations/access/schemas.ts'
import { busy, run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { DataTable } from '../parts/data-table.tsx'
import { shown } from '../parts/shown.ts'

interface Props {
  readonly access: z.infer<typeof AccessView>
  readonly again: () => void
}

/** The rights of each role, and the rule about approvals. */
export function Rules({ access: { separation, approvers, roles }, again }: Props) {
  const set = async (on: boolean) => {
    await run(`Separation of duties is ${on ? 'on' : 'off'}.`, () =>
      take(api.v1.access.rules.$put({ header: {}, json: { separation: on, by: person() } })),
    )
    again()
  }
  return (
    <>
      <section>
        <h2>Approvals</h2>
        <p>
          Separation of duties is <b>{separation ? 'on' : 'off'}</b>: whoever asked for a run, gave it input or forked
          it {separation ? 'cannot' : 'can'} approve its calls.
        </p>
        <button type="button" disabled={busy.value} onClick={() => void set(!separation)}>
          Turn it {separation ? 'off' : 'on'}
        </button>
        <ul>
          {approvers.map(({ tools, effects, count }) => (
            <li key={`${count} ${tools} ${effects}`}>
              {count} people approve calls of <bdi>{shown(tools.join(', '))}</bdi>
              {effects !== undefined && ` (${effects.join(', ')})`} in new runs.
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>Roles</h2>
        <DataTable
          label="Roles"
          columns={[{ name: 'role' }, { name: 'rights' }]}
          rows={Object.entries(roles).map(([role, rights]) => [role, rights.join(', ')])}
        />
      </section>
    </>
  )
}
