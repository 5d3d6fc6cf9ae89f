import { useEffect, useMemo } from 'preact/hooks'
import { DataTable } from '../parts/data-table.tsx'
import { countText, number } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import { Verifier } from './verifier.ts'

/** The most findings on the screen. */
const MOST = 200

/** Verifies the whole log, and shows verdict and findings. */
export function Verification() {
  const verifier = useMemo(() => new Verifier(), [])
  useEffect(() => () => verifier.stop(), [verifier])
  const works = verifier.state.value === 'works'
  return (
    <>
      <p class="row">
        <button type="button" class="main" disabled={works} onClick={() => void verifier.verify(false)}>
          Verify everything
        </button>
        <button type="button" disabled={works} onClick={() => void verifier.verify(true)}>
          Verify with the anchors
        </button>
        {works && (
          <button type="button" onClick={() => verifier.stop()}>
            Stop
          </button>
        )}
      </p>
      {verifier.state.value !== 'idle' && <Found verifier={verifier} />}
      <p class="quiet">
        Verifying compares the log with every signed head, every recorded anchor and the facts about keys, and reads
        each stream again: events, bodies, states and rows. With the anchors, folders, repositories and witnesses are
        also asked what they hold now. On the command line: <code>keepup verify</code> and{' '}
        <code>keepup verify --anchors</code>.
      </p>
    </>
  )
}

function Found({ verifier }: { verifier: Verifier }) {
  const [heads, streams, total] = [verifier.heads.value, verifier.streams.value, verifier.total.value]
  const state = verifier.state.value
  const findings = [
    ...(heads?.problems.map(({ code, message }) => `${code}: ${message}`) ?? []),
    ...verifier.tables.value.map((message) => `TABLE: ${message}`),
    ...streams.flatMap(({ problems }) => problems),
  ]
  const broken = heads?.ok === false || findings.length > 0 || streams.some(({ ok }) => !ok)
  return (
    <>
      <p role="status">
        <progress
          max={Math.max(1, total ?? 1)}
          {...(total === null ? {} : { value: streams.length })}
          aria-label="Verified streams"
        />{' '}
        {countText(streams.length, 'stream')} of {total ?? '…'}
        {state === 'stopped' && ', stopped'}
        {broken ? (
          <strong class="bad"> ✗ The proof is broken</strong>
        ) : (
          state === 'done' && <strong class="good"> ✓ The proof holds</strong>
        )}
      </p>
      {verifier.fault.value !== '' && (
        <p class="fault" role="alert">
          {shown(verifier.fault.value)}
        </p>
      )}
      {findings.slice(0, MOST).map((text) => (
        <p key={text} class="bad">
          <bdi>{shown(text)}</bdi>
        </p>
      ))}
      {findings.length > MOST && <p class="bad">and {countText(findings.length - MOST, 'finding')} more</p>}
      {heads !== null && (
        <dl class="facts">
          <dt>anchored</dt>
          <dd>{countText(heads.anchored, 'event')}</dd>
          <dt>recorded as anchored</dt>
          <dd>
            {countText(heads.recorded - heads.anchored, 'event')}
            {heads.unasked === undefined && heads.recorded > heads.anchored && ': verify with the anchors to ask them'}
            {heads.unasked?.map(({ anchor, kind, why }) => (
              <div key={anchor + kind}>{shown(`not asked: ${anchor} (${kind}), ${why}`)}</div>
            ))}
          </dd>
          <dt>only signed</dt>
          <dd>{countText(heads.signed - heads.recorded, 'event')}</dd>
          <dt>only chained</dt>
          <dd>{countText(heads.events - heads.signed, 'event')}</dd>
          <dt>signed heads</dt>
          <dd>
            {number(heads.heads)}
            {heads.superseded > 0 && `, ${heads.superseded} of before an accepted loss`}
          </dd>
        </dl>
      )}
      {streams.length > 0 && (
        <DataTable
          label="Streams"
          columns={[
            {
              name: 'stream',
              show: (cell) => (
                <a class="mono" href={`/audit?tab=log&stream=${encodeURIComponent(String(cell))}`}>
                  {shown(String(cell))}
                </a>
              ),
            },
            { name: 'proof', show: (cell) => <span class={cell === 'holds' ? 'good' : 'bad'}>{String(cell)}</span> },
            { name: 'events' },
            { name: 'anchored' },
            { name: 'recorded', title: 'recorded as anchored' },
            { name: 'signed', title: 'only signed' },
            { name: 'chained', title: 'only chained' },
            { name: 'erased' },
          ]}
          rows={streams.map(({ stream, ok, events, anchored, recorded, signed, chained, erased }) => [
            ...[stream, ok ? 'holds' : 'broken', events, anchored, recorded, signed, chained, erased],
          ])}
        />
      )}
    </>
  )
}
