import { useState } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { busy, run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { Dialog } from '../habits/dialog.tsx'
import { query, setQuery } from '../page/router.ts'
import { Moment } from '../parts/ago.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { DialogButtons } from '../parts/dialog-buttons.tsx'
import { More, usePages } from './pages.tsx'

const DAY_MS = 86_400_000

interface Created {
  readonly principal: string
  readonly key: string
}

/** The keys of everyone, or of one person or service, and the commands for them. */
export function Keys() {
  const of = query.value.get('principal')
  const pages = usePages(`keys ${of}`, async (after) => {
    const asked = { limit: '500', ...(after !== undefined && { after }), ...(of !== null && { principal: of }) }
    const { keys, next } = await take(api.v1.access.keys.$get({ query: asked }))
    return { rows: keys, next }
  })
  const [asked, setAsked] = useState<{ readonly revoke: string } | 'create' | null>(null)
  const [created, setCreated] = useState<Created | null>(null)
  const close = () => {
    setAsked(null)
    pages.again()
  }
  return (
    <section>
      <p class="row">
        <button type="button" class="main" disabled={busy.value} onClick={() => setAsked('create')}>
          Create a key
        </button>
        {of !== null && (
          <button type="button" onClick={() => setQuery({ principal: null })}>
            All keys, not only of {of}
          </button>
        )}
      </p>
      <DataTable
        label="Keys"
        empty="There are no keys. A key lets a person or a program sign in: create one with the button above."
        columns={[
          { name: 'key' },
          { name: 'owner' },
          { name: 'state' },
          { name: 'expires', show: (at) => (at === 'never' ? undefined : <Moment at={String(at)} />) },
          { name: 'rights' },
          {
            name: 'commands',
            show: (_, [key, , state]) =>
              state === 'valid' && (
                <button type="button" aria-label={`Revoke ${key}`} onClick={() => setAsked({ revoke: String(key) })}>
                  Revoke
                </button>
              ),
          },
        ]}
        rows={pages.rows.map(({ id, principal, state, expiresAt, rights }) => [
          ...[id, principal, state, expiresAt ?? 'never', rights?.join(', ') ?? 'all of its owner', ''],
        ])}
      />
      <More of={pages} />
      <p class="quiet">
        On the command line: <code>keepup access keys</code>, <code>keepup access key ID</code>,{' '}
        <code>keepup access revoke KEY</code>.
      </p>
      {asked === 'create' && (
        <CreateKey
          of={of ?? ''}
          onClose={(made) => {
            setCreated(made)
            close()
          }}
        />
      )}
      {asked !== null && asked !== 'create' && <RevokeKey id={asked.revoke} onClose={close} />}
      {created !== null && <ShowKey created={created} onClose={() => setCreated(null)} />}
    </section>
  )
}

function CreateKey({ of, onClose }: { of: string; onClose: (created: Created | null) => void }) {
  const create = async (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const principal = String(form.get('principal') ?? '').trim()
    const days = Number(form.get('days') ?? 0)
    const expiresAt = days > 0 ? { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() } : {}
    let created: Created | null = null
    await run(`The key of ${principal} is created.`, async () => {
      created = await take(
        api.v1.access.principals[':principal'].keys.$post({
          param: { principal },
          header: {},
          json: { by: person(), ...expiresAt },
        }),
      )
    })
    onClose(created)
  }
  return (
    <Dialog title="Create a key" onClose={() => onClose(null)}>
      <form class="form start" onSubmit={create}>
        <label>
          Owner
          <input name="principal" class="mono" required defaultValue={of} placeholder="ann@example.com" />
        </label>
        <label>
          Days until it expires; empty: never
          <input name="days" type="number" min={1} max={3650} />
        </label>
        <DialogButtons title="Create" onClose={() => onClose(null)} />
      </form>
    </Dialog>
  )
}

const ShowKey = ({ created: { principal, key }, onClose }: { created: Created; onClose: () => void }) => (
  <Dialog title={`The key of ${principal}`} onClose={onClose}>
    <p>keepup stores only its hash, so this is the only time that it is shown. Give it to its owner alone.</p>
    <pre class="mono">{key}</pre>
    <p class="row">
      <CopyButton title="Copy the key" text={key} />
      <button type="button" class="main" onClick={onClose}>
        Done
      </button>
    </p>
    <p class="quiet">
      For the command line and programs: <code>KEEPUP_KEY=…</code>. For this page: <code>KEEPUP_KEY=… keepup open</code>
      .
    </p>
  </Dialog>
)

function RevokeKey({ id, onClose }: { id: string; onClose: () => void }) {
  const revoke = async () => {
    await run(`The key ${id} is revoked.`, () =>
      take(api.v1.access.keys[':key'].revoke.$post({ param: { key: id }, header: {}, json: { by: person() } })),
    )
    onClose()
  }
  return (
    <Dialog title={`Revoke the key ${id}?`} onClose={onClose}>
      <p>Requests with it and sessions that it opened end at once, for ever.</p>
      <p class="row">
        <button type="button" class="main" disabled={busy.value} onClick={() => void revoke()}>
          Revoke
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </Dialog>
  )
}
