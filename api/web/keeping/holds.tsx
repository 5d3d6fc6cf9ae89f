import { useState } from 'preact/hooks'
import { idOf, KINDS_OF_RUNS, kindOf } from '../../../domain/log/owner.ts'
import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { query, setQuery } from '../page/router.ts'
import { WhenAgo } from '../parts/ago.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { LiftHold, SetHold } from './hold-forms.tsx'
import { useKeepingRound } from './hold-notice.tsx'

type Asked = { readonly lift: string } | 'set' | null

/** The legal holds, and the commands for them. `canChange`: whether this person may set and lift holds. */
export function Holds({ canChange }: { canChange: boolean }) {
  const all = query.value.get('all') === 'true'
  const [round, again] = useKeepingRound()
  const found = useLoaded(
    `holds ${all}`,
    () => take(api.v1.holds.$get({ query: all ? { all: 'true' as const } : {} })),
    round,
  )
  const [asked, setAsked] = useState<Asked>(null)
  const close = () => {
    setAsked(null)
    again()
  }
  return (
    <section>
      <p class="row">
        {canChange && (
          <button type="button" class="main" onClick={() => setAsked('set')}>
            Set a hold
          </button>
        )}
        <label>
          <input
            type="checkbox"
            checked={all}
            onChange={(event) => setQuery({ all: event.currentTarget.checked ? 'true' : null })}
          />{' '}
          also those that were lifted
        </label>
      </p>
      <Loaded of={found}>
        {({ holds }) =>
          holds.length === 0 ? (
            <p>
              {all ? 'Nothing was ever held.' : 'Nothing is held.'} A hold keeps a run, a document, a fact or a store:
              nobody can erase it, neither a person nor the retention, until someone lifts the hold.
              {canChange && ' Set one here, or with the button "Hold" of a run or a document.'}
            </p>
          ) : (
            <DataTable
              label="Holds"
              columns={[
                { name: 'hold' },
                { name: 'of', title: 'what', show: (of) => <StreamLink stream={String(of)} /> },
                { name: 'reason' },
                { name: 'by' },
                { name: 'at', title: 'since', show: (at) => <WhenAgo at={String(at)} /> },
                ...(all
                  ? [{ name: 'lifted_at', title: 'lifted' }, { name: 'lifted_by' }, { name: 'lift_reason' }]
                  : []),
                ...(canChange
                  ? [
                      {
                        name: 'commands',
                        show: (state: unknown, [hold]: readonly unknown[]) =>
                          state === 'held' && (
                            <button
                              type="button"
                              aria-label={`Lift ${hold}`}
                              onClick={() => setAsked({ lift: String(hold) })}
                            >
                              Lift
                            </button>
                          ),
                      },
                    ]
                  : []),
              ]}
              rows={holds.map(({ hold, of, reason, by, at, lifted }) => [
                ...[hold, of, reason, by, at],
                ...(all ? [lifted?.at ?? null, lifted?.by ?? null, lifted?.reason ?? null] : []),
                ...(canChange ? [lifted === null ? 'held' : ''] : []),
              ])}
            />
          )
        }
      </Loaded>
      <p class="quiet">
        On the command line: <code>keepup hold list --all</code>, <code>keepup hold set RUN --reason TEXT</code>,{' '}
        <code>keepup hold lift HOLD --reason TEXT</code>.
      </p>
      {asked === 'set' && <SetHold of={null} onClose={close} />}
      {asked !== null && asked !== 'set' && <LiftHold hold={asked.lift} onClose={close} />}
    </section>
  )
}

/** Leads to the screen of a run or a document, for other streams to their events. */
function StreamLink({ stream }: { stream: string }) {
  const id = encodeURIComponent(idOf(stream))
  const to = KINDS_OF_RUNS.includes(kindOf(stream))
    ? `/runs/${id}`
    : kindOf(stream) === 'document'
      ? `/documents/${id}`
      : `/audit?tab=log&stream=${encodeURIComponent(stream)}`
  return (
    <a class="mono" href={to}>
      <bdi>{shown(stream)}</bdi>
    </a>
  )
}
