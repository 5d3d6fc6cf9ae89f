import { useEffect, useMemo } from 'preact/hooks'
import { query, setQuery } from '../../page/router.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { countText, number } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { type Proved, Prover } from './prover.ts'

const sum = (all: readonly Proved[], of: 'events' | 'streams' | 'digests' | 'erased' | 'losses') =>
  all.reduce((total, one) => total + one[of], 0)

/** The proof of one run, or of all runs and documents, with its progress. */
export function AuditProofTab() {
  const prover = useMemo(() => new Prover(), [])
  useEffect(() => () => prover.stop(), [prover])
  const run = query.value.get('run') ?? ''
  const works = prover.state.value === 'works'
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="scroll" tabIndex={0}>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void prover.prove(run)
        }}
      >
        <label>
          Run{' '}
          <input
            class="mono"
            value={run}
            placeholder="all runs and documents"
            onInput={(event) => setQuery({ run: event.currentTarget.value.trim() })}
          />
        </label>
        <button type="submit" class="main" disabled={works}>
          Verify
        </button>
        {works && (
          <button type="button" onClick={() => prover.stop()}>
            Stop
          </button>
        )}
      </form>
      <Progress prover={prover} />
      <p class="quiet">
        Verifying reads every event again: each one is chained by its hash to the one before it, each body is the one
        that was sealed, each recorded state is folded again and compared, and each child ends where its parent was
        told. On the command line: <code>keepup verify RUN</code>, and <code>keepup verify --file FILE</code> for an
        export.
      </p>
    </div>
  )
}

function Progress({ prover }: { prover: Prover }) {
  const [done, total] = [prover.done.value, prover.total.value]
  if (prover.state.value === 'idle') return null
  const bad = done.filter(({ ok }) => !ok)
  const works = prover.state.value === 'works'
  return (
    <>
      <p role="status">
        <progress
          max={Math.max(1, total ?? 1)}
          {...(total === null ? {} : { value: done.length })}
          aria-label="Verified"
        />{' '}
        {number(done.length)} of {total === null ? '…' : number(total)}
        {works && prover.now.value !== '' && (
          <>
            , now <span class="mono">{prover.now.value}</span>
          </>
        )}
        {prover.state.value === 'stopped' && ', stopped'}
      </p>
      {prover.fault.value !== '' && (
        <p class="fault" role="alert">
          {shown(prover.fault.value)}
        </p>
      )}
      {done.length > 0 && (
        <>
          <p class={bad.length === 0 ? 'good' : 'bad'}>
            {bad.length === 0 ? '✓ The proof holds' : `✗ The proof of ${number(bad.length)} is broken`}:{' '}
            {countText(sum(done, 'events'), 'event')} of {countText(sum(done, 'streams'), 'stream')} chained,{' '}
            {countText(sum(done, 'digests'), 'state')} folded again and equal
            {sum(done, 'erased') > 0 && `, ${countText(sum(done, 'erased'), 'body')} erased by a recorded fact`}
            {sum(done, 'losses') > 0 && `, ${sum(done, 'losses')} losses that a person accepted`}
          </p>
          {bad.flatMap(({ id, problems }) =>
            problems.map((problem) => (
              <p key={id + problem} class="bad">
                <bdi>{shown(problem)}</bdi>
              </p>
            )),
          )}
          <DataTable
            label="Proofs"
            columns={[
              { name: 'kind' },
              {
                name: 'id',
                show: (cell, row) => (
                  <a class="mono" href={`/${row[0] === 'run' ? 'runs' : 'documents'}/${cell}`}>
                    {shown(String(cell))}
                  </a>
                ),
              },
              { name: 'proof', show: (cell) => <span class={cell === 'holds' ? 'good' : 'bad'}>{String(cell)}</span> },
              { name: 'events' },
              { name: 'states' },
              { name: 'erased' },
            ]}
            rows={done.map((one) => [
              one.kind,
              one.id,
              one.ok ? 'holds' : 'broken',
              one.events,
              one.digests,
              one.erased,
            ])}
          />
        </>
      )}
    </>
  )
}
