import { useState } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import { busy, run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { Dialog } from '../habits/dialog.tsx'
import { WhenAgo } from '../parts/ago.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { DialogButtons } from '../parts/dialog-buttons.tsx'
import { countText } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import type { Status } from './signed-log.tsx'

const KINDS = [
  ['folder', 'folder: a file for each head'],
  ['git', 'git: a commit for each head'],
  ['witness', 'witness: a cosignature for each head'],
  ['timestamp', 'timestamp: a time stamp of an RFC 3161 service'],
] as const

type Kind = (typeof KINDS)[number][0]
type Asked = { readonly remove: string } | 'add' | null

/** The places outside the log that keep its heads, and the commands for them. */
export function Anchors({ status: { anchors, head }, again }: { status: Status; again: () => void }) {
  const [asked, setAsked] = useState<Asked>(null)
  const anchorNow = async (anchor?: string) => {
    await run('The head is anchored.', async () => {
      const json = { by: person(), ...(anchor !== undefined && { anchor }) }
      const made = (await take(api.v1.anchors.now.$post({ json }))).anchors
      const failed = made.filter(({ ok }) => !ok)
      if (failed.length > 0) throw new Error(failed.map((one) => `${one.anchor}: ${one.message}`).join('; '))
    })
    again()
  }
  const close = () => {
    setAsked(null)
    again()
  }
  return (
    <section>
      <h2>Anchors</h2>
      <p class="row">
        <button
          type="button"
          class="main"
          disabled={busy.value || anchors.length === 0}
          onClick={() => void anchorNow()}
        >
          Anchor now
        </button>
        <button type="button" disabled={busy.value} onClick={() => setAsked('add')}>
          Add an anchor
        </button>
      </p>
      {anchors.length === 0 ? (
        <p>
          The log has no anchor. Without one, whoever can write the data folder and read the key can write the whole log
          anew.
        </p>
      ) : (
        <DataTable
          label="Anchors"
          columns={[
            { name: 'anchor' },
            { name: 'kind' },
            { name: 'target' },
            { name: 'events', title: 'events anchored' },
            { name: 'at', title: 'when', show: (at) => at !== null && <WhenAgo at={String(at)} /> },
            { name: 'failure', show: (text) => text !== null && <bdi class="bad">{shown(String(text))}</bdi> },
            {
              name: 'commands',
              show: (_, [anchor]) => (
                <span class="row">
                  <button
                    type="button"
                    aria-label={`Anchor now with ${anchor}`}
                    disabled={busy.value}
                    onClick={() => void anchorNow(String(anchor))}
                  >
                    Anchor now
                  </button>
                  <button
                    type="button"
                    aria-label={`Remove ${anchor}`}
                    disabled={busy.value}
                    onClick={() => setAsked({ remove: String(anchor) })}
                  >
                    Remove
                  </button>
                </span>
              ),
            },
          ]}
          rows={anchors.map(({ anchor, kind, target, size, anchoredAt, failure }) => [
            ...[anchor, kind, target, size, anchoredAt, failure?.message ?? null, ''],
          ])}
        />
      )}
      {head !== null && anchors.length > 0 && <Behind size={head.size} anchors={anchors} />}
      <p class="quiet">
        On the command line: <code>keepup anchor list</code>, <code>keepup anchor now</code>,{' '}
        <code>keepup anchor add NAME KIND TARGET</code>, <code>keepup anchor remove NAME</code>.
      </p>
      {asked === 'add' && <AddAnchor onClose={close} />}
      {asked !== null && asked !== 'add' && <RemoveAnchor anchor={asked.remove} onClose={close} />}
    </section>
  )
}

function Behind({ size, anchors }: { size: number; anchors: Status['anchors'] }) {
  const anchored = Math.max(0, ...anchors.map((one) => one.size ?? 0))
  return anchored >= size ? null : (
    <p class="quiet">{countText(size - anchored, 'signed event')} came after the last anchored head.</p>
  )
}

function AddAnchor({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<Kind>('folder')
  const isFolder = kind === 'folder' || kind === 'git'
  const add = async (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const vkey = text('vkey')
    const json = { anchor: text('anchor'), kind, target: text('target'), by: person(), ...(vkey !== '' && { vkey }) }
    const done = `The anchor ${json.anchor} is added. "Anchor now" leaves the first head with it.`
    await run(done, () => take(api.v1.anchors.$post({ header: asOne(), json })))
    onClose()
  }
  return (
    <Dialog title="Add an anchor" onClose={onClose}>
      <form class="form start" onSubmit={add}>
        <label>
          Name
          <input name="anchor" class="mono" required pattern="[a-z0-9][a-z0-9\-]{0,39}" placeholder="office-share" />
        </label>
        <label>
          Kind
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
            {KINDS.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          {isFolder ? 'Folder on the server’s computer' : 'URL'}
          <input name="target" class="mono" required placeholder={isFolder ? '/mnt/elsewhere/heads' : 'https://…'} />
        </label>
        {kind === 'witness' && (
          <label>
            Key of the witness
            <input name="vkey" class="mono" required />
          </label>
        )}
        <DialogButtons title="Add" onClose={onClose} />
      </form>
    </Dialog>
  )
}

function RemoveAnchor({ anchor, onClose }: { anchor: string; onClose: () => void }) {
  const remove = async () => {
    await run(`The anchor ${anchor} is removed.`, () =>
      take(api.v1.anchors[':anchor'].remove.$post({ param: { anchor }, header: asOne(), json: { by: person() } })),
    )
    onClose()
  }
  return (
    <Dialog title={`Remove the anchor ${anchor}?`} onClose={onClose}>
      <p>No further head is left with it. The heads that it holds stay there, and the log goes on naming them.</p>
      <p class="row">
        <button type="button" class="main" disabled={busy.value} onClick={() => void remove()}>
          Remove
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </Dialog>
  )
}
