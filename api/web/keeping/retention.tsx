import { useState } from 'preact/hooks'
import type { Kept } from '../../../domain/access/keeping.ts'
import { take } from '../../http/answers.ts'
import { run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { Dialog } from '../habits/dialog.tsx'
import { WhenAgo } from '../parts/ago.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { DialogButtons } from '../parts/dialog-buttons.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { Due } from './due.tsx'
import { useKeepingRound } from './hold-notice.tsx'

/** Each subject in words, and from when on its days count. */
const SUBJECTS: Readonly<Record<Kept, readonly [what: string, from: string]>> = {
  run: ['runs, each with all its agents', 'the end of the run'],
  external: ['runs of other agents', 'the end of the run'],
  document: ['requests to documents', 'the last change of the document'],
  memory: ['facts that agents saved', 'the last change of the fact'],
  store: ['variables of stores', 'the last change of the store'],
}

interface Rule {
  readonly of: Kept
  readonly days: number | null
}

/** How long texts stay, and the commands for it. `canChange`: whether this person may set a retention and erase. */
export function Retention({ canChange }: { canChange: boolean }) {
  const [round, again] = useKeepingRound()
  const found = useLoaded('retention', () => take(api.v1.retention.$get({})), round)
  const [asked, setAsked] = useState<Rule | null>(null)
  const close = () => {
    setAsked(null)
    again()
  }
  return (
    <section>
      <Loaded of={found}>
        {({ retention, erases }) => (
          <>
            {!erases && <p class="fault">This event store cannot empty bodies, so nothing is erased by policy.</p>}
            <p>
              {retention.every(({ days }) => days === null)
                ? 'Nothing is erased by policy: all texts stay until a person erases them.'
                : 'Once an hour keepup empties texts that are older than this, for ever. What is held or has not ended stays.'}
            </p>
            <DataTable
              label="Retention"
              columns={[
                { name: 'subject' },
                { name: 'texts of' },
                { name: 'days', title: 'erased after' },
                { name: 'by', title: 'set by' },
                { name: 'at', title: 'set', show: (at) => (at === null ? null : <WhenAgo at={String(at)} />) },
                ...(canChange
                  ? [
                      {
                        name: 'commands',
                        show: (_: unknown, [of]: readonly unknown[]) => (
                          <button
                            type="button"
                            aria-label={`Change the retention of ${of}`}
                            onClick={() => setAsked(retention.find((one) => one.of === of)!)}
                          >
                            Change
                          </button>
                        ),
                      },
                    ]
                  : []),
              ]}
              rows={retention.map(({ of, days, by, at }) => [
                ...[of, SUBJECTS[of][0], days === null ? 'never' : `${days} days`, by, at],
                ...(canChange ? [''] : []),
              ])}
            />
            {canChange && erases && <Due round={round} again={again} />}
          </>
        )}
      </Loaded>
      <p class="quiet">
        On the command line: <code>keepup retention</code>, <code>keepup retention set run 180</code>,{' '}
        <code>keepup retention sweep --dry-run</code>.
      </p>
      {asked !== null && <SetRetention rule={asked} onClose={close} />}
    </section>
  )
}

/** Asks once more before 0 days, which erase everything old. */
function SetRetention({ rule: { of, days: before }, onClose }: { rule: Rule; onClose: () => void }) {
  const [isSure, setSure] = useState(false)
  const [what, from] = SUBJECTS[of]
  const set = async (event: Event) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('days') ?? '')
    const days = isSure ? 0 : text === '' ? null : Number(text)
    if (days === 0 && !isSure) return setSure(true)
    await run(days === null ? `${of}: never erased by policy.` : `${of}: erased after ${days} days.`, () =>
      take(api.v1.retention.$put({ header: {}, json: { of, days, by: person() } })),
    )
    onClose()
  }
  return (
    <Dialog title={`The retention of ${of}`} onClose={onClose}>
      <form class="form start" onSubmit={set}>
        {isSure ? (
          <p role="alert">With 0 days the next sweep empties every {of} that no hold keeps, for ever.</p>
        ) : (
          <>
            <p>
              The days count from {from}. The next sweep empties what is older and not held, for ever: the texts of{' '}
              {what}.
            </p>
            <label>
              Days; empty: never
              <input name="days" type="number" min={0} defaultValue={before ?? ''} />
            </label>
          </>
        )}
        <DialogButtons title={isSure ? 'Set 0 days' : 'Set'} onClose={onClose} />
      </form>
    </Dialog>
  )
}
