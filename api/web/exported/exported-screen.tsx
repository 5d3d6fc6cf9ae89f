import { useEffect, useState } from 'preact/hooks'
import { type EventContent, substance } from '../../cli/output/event-row.ts'
import { useKeys } from '../page/keyboard-shortcuts.ts'
import { setQuery } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { JsonView } from '../parts/code/json-view.tsx'
import { clock, countText, instant } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { positionIn } from '../run/position.ts'
import { toneOf } from '../run/timeline/tone.ts'
import { type Checked, checkExport, type Exported, exportedBody } from './exported.ts'
import { notOpened, openExport, opened } from './opened.ts'

const ROW = 24

/** The events of an exported run and their verification. Everything runs in the browser, without a server. */
export function ExportedScreen() {
  useTitle('Exported run')
  const exported = opened.value
  return (
    <div class="screen exported">
      <div class="bar">
        <h1>Exported run</h1>
        <label>
          File{' '}
          <input
            type="file"
            accept=".ndjson,.jsonl,.json,.txt"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0]
              if (file !== undefined) void openExport(file)
            }}
          />
        </label>
      </div>
      {notOpened.value !== '' && (
        <p class="fault" role="alert">
          {shown(notOpened.value)}
        </p>
      )}
      {exported === null ? <Empty /> : <Events key={exported.name} exported={exported} />}
    </div>
  )
}

const Empty = () => (
  <div class="notice">
    <h2>Drop the file of an exported run here</h2>
    <p>Its events are shown and checked in this browser; nothing of it is sent anywhere. Make such a file with:</p>
    <pre>keepup export RUN &gt; run.ndjson</pre>
  </div>
)

function Events({ exported }: { exported: Exported }) {
  const { head, lines, name } = exported
  const place = positionIn(lines.length)
  const go = (to: number) => setQuery({ at: String(Math.min(lines.length - 1, Math.max(0, to))) })
  useKeys({ j: () => go(place + 1), k: () => go(place - 1), Home: () => go(0), End: () => go(lines.length - 1) })
  const line = lines[place]
  return (
    <>
      <p class="about">
        <bdi>{shown(name)}</bdi>: run <span class="mono">{shown(head.runId)}</span> of the log{' '}
        <span class="mono">{shown(head.logId)}</span>, {countText(lines.length, 'event')} of{' '}
        {countText(head.streams.length, 'stream')}. <Check exported={exported} />
      </p>
      <div class="panes two">
        <section class="pane">
          <VirtualList
            label="Events of the file"
            count={lines.length}
            rowHeight={ROW}
            at={place}
            row={(i) => {
              const { header } = lines[i]!
              return (
                <button type="button" class="event plain" aria-current={i === place || undefined} onClick={() => go(i)}>
                  <span class="quiet number">{header.revision}</span>
                  <span class="quiet">{clock(Date.parse(header.timestamp))}</span>
                  <span class={`type ${toneOf(header.type)}`}>{shown(header.type)}</span>
                  <span class="said">
                    <bdi>{shown(said(exported, i))}</bdi>
                  </span>
                </button>
              )
            }}
          />
        </section>
        <section class="pane">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
          <div class="scroll" tabIndex={0}>
            {line !== undefined && (
              <>
                <h2>
                  {shown(line.header.type)}{' '}
                  <span class="quiet mono">
                    {shown(line.header.stream)}@{line.header.revision}
                  </span>
                </h2>
                <p class="quiet">{instant(line.header.timestamp)}</p>
                <JsonView key={place} value={exportedBody(lines, line)} name="payload" />
                <JsonView key={`h${place}`} value={{ ...line.header, hash: line.hash }} name="header" />
              </>
            )}
          </div>
        </section>
      </div>
    </>
  )
}

/** One line about an event, as in other lists of events. */
function said({ lines }: Exported, i: number): string {
  const line = lines[i]!
  return substance({ ...line.header, payload: exportedBody(lines, line) } as EventContent)
}

function Check({ exported }: { exported: Exported }) {
  const [found, setFound] = useState<{ checked: Checked | null; done: boolean }>({
    checked: { events: 0, problems: [] },
    done: false,
  })
  useEffect(() => {
    const over = new AbortController()
    checkExport(exported, (checked) => setFound({ checked, done: false }), over.signal).then(
      (checked) => over.signal.aborted || setFound({ checked, done: true }),
      (error: Error) => setFound({ checked: { events: 0, problems: [error.message] }, done: true }),
    )
    return () => over.abort()
  }, [exported])
  const { checked, done } = found
  if (checked === null) return <span role="status">This browser cannot check it here: use keepup verify --file.</span>
  const { events, problems } = checked
  if (problems.length > 0)
    return (
      <span role="status" class="bad">
        ✗ The proof is broken: <bdi>{shown(problems.slice(0, 5).join('; '))}</bdi>
      </span>
    )
  return (
    <span role="status" class={done ? 'good' : 'quiet'}>
      {done
        ? `✓ The proof holds: ${countText(events, 'event')} chained, each body as it was sealed`
        : `checking … ${countText(events, 'event')}`}
    </span>
  )
}
