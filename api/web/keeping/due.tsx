import { useState } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { Dialog } from '../habits/dialog.tsx'
import { WhenAgo } from '../parts/ago.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { DialogButtons } from '../parts/dialog-buttons.tsx'
import { countText, size } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'

const sweep = (dryRun: boolean) => take(api.v1.retention.sweep.$post({ header: {}, json: { dryRun } }))

/** What the next sweep empties and what it spares, and a button to empty it now. `round`: changes with the retention. */
export function Due({ round, again }: { round: number; again: () => void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <section>
      <h2>What is old enough now</h2>
      {isOpen ? (
        <Sweep round={round} again={again} />
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          Show what the next sweep empties
        </button>
      )}
    </section>
  )
}

function Sweep({ round, again }: { round: number; again: () => void }) {
  const found = useLoaded('due', () => sweep(true), round)
  const [asked, setAsked] = useState<number | null>(null)
  const close = () => {
    setAsked(null)
    again()
  }
  const empty = async (event: Event) => {
    event.preventDefault()
    await run('What was old enough is emptied.', () => sweep(false))
    close()
  }
  return (
    <Loaded of={found}>
      {({ erased, spared, more }) => (
        <>
          {erased.length + spared.length === 0 ? (
            <p>Nothing is old enough.</p>
          ) : (
            <DataTable
              label="Old enough"
              columns={[
                { name: 'subject' },
                { name: 'id' },
                { name: 'since', show: (at) => <WhenAgo at={String(at)} /> },
                { name: 'texts' },
                { name: 'size', show: (cell) => (cell === null ? null : size(Number(cell))) },
                { name: 'spared', title: 'why it is spared' },
              ]}
              rows={[
                ...erased.map(({ of, id, since, bodies, bytes: size }) => [of, id, since, bodies, size, null]),
                ...spared.map(({ of, id, since, why }) => [of, id, since, null, null, why]),
              ]}
            />
          )}
          {more && <p class="quiet">Others are left for the sweep after it.</p>}
          {erased.length > 0 && (
            <button type="button" onClick={() => setAsked(erased.length)}>
              Empty them now
            </button>
          )}
          {asked !== null && (
            <Dialog title={`Empty the texts of ${countText(asked, 'subject')}?`} onClose={close}>
              <form class="form start" onSubmit={empty}>
                <p>Nothing brings them back. The log still proves the rest.</p>
                <DialogButtons title="Empty them" onClose={close} />
              </form>
            </Dialog>
          )}
        </>
      )}
    </Loaded>
  )
}
