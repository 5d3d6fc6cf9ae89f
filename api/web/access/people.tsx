import { useState } from 'preact/hooks'
import { ROLES, type Role } from '../../../domain/access/rights.ts'
import { take } from '../../http/answers.ts'
import { busy, run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { Dialog } from '../habits/dialog.tsx'
import { setQuery } from '../page/router.ts'
import { DataTable } from '../parts/data-table.tsx'
import { DialogButtons } from '../parts/dialog-buttons.tsx'
import { More, usePages } from './pages.tsx'

type Asked = { readonly change: string } | { readonly remove: string } | 'add' | null

/** The people and services with their roles, and the commands for them. */
export function People() {
  const pages = usePages('people', async (after) => {
    const query = { limit: '500', ...(after !== undefined && { after }) }
    const { principals, next } = await take(api.v1.access.principals.$get({ query }))
    return { rows: principals, next }
  })
  const [asked, setAsked] = useState<Asked>(null)
  const close = () => {
    setAsked(null)
    pages.again()
  }
  const byId = new Map(pages.rows.map((one) => [one.id, one]))
  const current = (id: unknown) => byId.get(String(id))
  return (
    <section>
      <p class="row">
        <button type="button" class="main" disabled={busy.value} onClick={() => setAsked('add')}>
          Add a person or service
        </button>
      </p>
      <DataTable
        label="People and services"
        empty="There are no people or services. Add one with the button above."
        columns={[
          { name: 'id' },
          { name: 'name' },
          { name: 'kind' },
          { name: 'roles' },
          {
            name: 'commands',
            show: (_, [id]) =>
              current(id)?.removed === false && (
                <span class="row">
                  <button type="button" aria-label={`Roles of ${id}`} onClick={() => setAsked({ change: String(id) })}>
                    Roles
                  </button>
                  <button
                    type="button"
                    aria-label={`Keys of ${id}`}
                    onClick={() => setQuery({ tab: 'keys', principal: String(id) })}
                  >
                    Keys
                  </button>
                  <button type="button" aria-label={`Remove ${id}`} onClick={() => setAsked({ remove: String(id) })}>
                    Remove
                  </button>
                </span>
              ),
          },
        ]}
        rows={pages.rows.map(({ id, name, kind, roles, claimed, linked, removed }) => [
          ...[id, linked.length === 0 ? name : `${name} (also ${linked.join(', ')})`, kind],
          ...[removed ? 'removed' : rolesText(roles, claimed), ''],
        ])}
      />
      <More of={pages} />
      <p class="quiet">
        On the command line: <code>keepup access list</code>, <code>keepup access add ID</code>,{' '}
        <code>keepup access grant ID ROLE</code>, <code>keepup access take ID ROLE</code>,{' '}
        <code>keepup access remove ID</code>, <code>keepup access link ID OTHER</code> for two ids of one person.
      </p>
      {asked === 'add' && <AddPrincipal onClose={close} />}
      {asked !== null && typeof asked === 'object' && 'change' in asked && (
        <ChangeRoles id={asked.change} roles={current(asked.change)?.roles ?? []} onClose={close} />
      )}
      {asked !== null && typeof asked === 'object' && 'remove' in asked && (
        <RemovePrincipal id={asked.remove} onClose={close} />
      )}
    </section>
  )
}

/** The granted roles, then those that only an issuer's tokens gave. */
function rolesText(roles: readonly Role[], claimed: readonly { readonly roles: readonly Role[] }[]): string {
  const more = claimed.flatMap((claim) => claim.roles).filter((role) => !roles.includes(role))
  return [...roles, ...new Set(more.map((role) => `${role} (claimed)`))].join(', ') || 'none'
}

const RoleBoxes = ({ roles }: { roles: readonly Role[] }) => (
  <fieldset>
    <legend>Roles</legend>
    {ROLES.map((role) => (
      <label key={role} class="row">
        <input type="checkbox" name="role" value={role} defaultChecked={roles.includes(role)} /> {role}
      </label>
    ))}
  </fieldset>
)

const rolesIn = (form: FormData): Role[] => ROLES.filter((role) => form.getAll('role').includes(role))

function AddPrincipal({ onClose }: { onClose: () => void }) {
  const add = async (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const [principal, name] = [text('id'), text('name')]
    const kind = text('kind') === 'service' ? 'service' : 'person'
    const json = { principal, kind, roles: rolesIn(form), by: person(), ...(name !== '' && { name }) } as const
    await run(`${principal} is added. Create a key for ${principal} under "Keys".`, () =>
      take(api.v1.access.principals.$post({ header: {}, json })),
    )
    onClose()
  }
  return (
    <Dialog title="Add a person or service" onClose={onClose}>
      <form class="form start" onSubmit={add}>
        <label>
          Id, which facts record
          <input name="id" class="mono" required pattern="[a-z0-9][a-z0-9._@+\-]{0,99}" placeholder="ann@example.com" />
        </label>
        <label>
          Name, for people
          <input name="name" dir="auto" maxLength={200} placeholder="Ann Miller" />
        </label>
        <label>
          Kind
          <select name="kind">
            <option value="person">person</option>
            <option value="service">service</option>
          </select>
        </label>
        <RoleBoxes roles={['viewer']} />
        <DialogButtons title="Add" onClose={onClose} />
      </form>
    </Dialog>
  )
}

function ChangeRoles({ id, roles, onClose }: { id: string; roles: readonly Role[]; onClose: () => void }) {
  const change = async (event: Event) => {
    event.preventDefault()
    const wanted = rolesIn(new FormData(event.currentTarget as HTMLFormElement))
    const send = (way: 'grant' | 'take', role: Role) =>
      take(
        api.v1.access.principals[':principal'][way].$post({
          param: { principal: id },
          header: {},
          json: { role, by: person() },
        }),
      )
    await run(`The roles of ${id} are ${wanted.join(', ') || 'none'}.`, async () => {
      // Grant first, so that the principal is never without a role that it keeps.
      for (const role of wanted) if (!roles.includes(role)) await send('grant', role)
      for (const role of roles) if (!wanted.includes(role)) await send('take', role)
    })
    onClose()
  }
  return (
    <Dialog title={`Roles of ${id}`} onClose={onClose}>
      <form class="form start" onSubmit={change}>
        <RoleBoxes roles={roles} />
        <DialogButtons title="Change" onClose={onClose} />
      </form>
    </Dialog>
  )
}

function RemovePrincipal({ id, onClose }: { id: string; onClose: () => void }) {
  const remove = async (event: Event) => {
    event.preventDefault()
    const reason = String(new FormData(event.currentTarget as HTMLFormElement).get('reason') ?? '').trim()
    const json = { by: person(), ...(reason !== '' && { reason }) }
    await run(`${id} is removed.`, () =>
      take(api.v1.access.principals[':principal'].remove.$post({ param: { principal: id }, header: {}, json })),
    )
    onClose()
  }
  return (
    <Dialog title={`Remove ${id}?`} onClose={onClose}>
      <form class="form start" onSubmit={remove}>
        <p>
          Its roles, keys and sessions end at once. The facts that name it stay, and nobody can be added with its id.
        </p>
        <label>
          Reason, which is recorded
          <input name="reason" dir="auto" maxLength={200} />
        </label>
        <DialogButtons title="Remove" onClose={onClose} />
      </form>
    </Dialog>
  )
}
