import { useEffect, useMemo, useState } from 'preact/hooks'
import { substance } from '../../../cli/output/event-row.ts'
import { take } from '../../../http/answers.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { api } from '../../client/api.ts'
import { listen } from '../../client/feed.ts'
import { useKeys } from '../../page/keyboard-shortcuts.ts'
import { query, setQuery } from '../../page/router.ts'
import { JsonView } from '../../parts/code/json-view.tsx'
import { clock, countText } from '../../parts/format.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { positionIn } from '../../run/position.ts'
import { toneOf } from '../../run/timeline/tone.ts'
import { LogModel, StreamModel } from './log-model.ts'

const ROW = 24

/** One stream, or the whole log, with new events as they arrive. */
export function LogTab() {
  const stream = query.value.get('stream') ?? ''
  const [text, setText] = useState(stream)
  useEffect(() => setText(stream), [stream])
  return (
    <>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault()
          setQuery({ stream: text.trim(), at: null })
        }}
      >
        <label>
          Stream{' '}
          <input
            class="mono"
            value={text}
            placeholder="the whole log; or agent-…"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Show</button>
        {stream !== '' && (
          <button type="button" onClick={() => setQuery({ stream: null, at: null })}>
            The whole log
          </button>
        )}
      </form>
      {stream === '' ? <WholeLog /> : <OneStream key={stream} stream={stream} />}
    </>
  )
}

function OneStream({ stream }: { stream: string }) {
  const model = useMemo(() => new StreamModel(stream), [stream])
  useEffect(() => listen({ event: (event) => model.hear(event), connected: () => model.catchUp() }), [model])
  model.events.version.value
  const length = model.length.value
  const place = length === 0 ? -1 : positionIn(length)
  const fault = model.fault.value || model.events.fault.value
  const go = (to: number) => setQuery({ at: to >= length - 1 ? null : String(Math.max(0, to)) })
  useKeys({
    j: () => go(place + 1),
    k: () => go(place - 1),
    Home: () => go(0),
    End: () => setQuery({ at: null }),
  })
  useEffect(() => model.events.want('detail', place < 0 ? [] : [place]), [model, place])
  return (
    <>
      {fault !== '' && (
        <p class="fault" role="alert">
          {shown(fault)}
        </p>
      )}
      <div class="panes two">
        <section class="pane">
          <VirtualList
            label={`Events of ${stream}`}
            count={length}
            rowHeight={ROW}
            at={place}
            onRange={(first, last) =>
              model.events.want(
                'list',
                Array.from({ length: last - first + 1 }, (_, i) => first + i),
              )
            }
            row={(revision) => (
              <Line
                event={model.events.get(revision)}
                number={revision}
                isAt={revision === place}
                onClick={() => go(revision)}
              />
            )}
          />
        </section>
        <section class="pane">
          <Detail event={model.events.get(place)} />
        </section>
      </div>
    </>
  )
}

function WholeLog() {
  const model = useMemo(() => new LogModel(), [])
  const [chosen, setChosen] = useState<string | null>(null)
  const [paused, setPaused] = useState<readonly EventView[] | null>(null)
  useEffect(() => listen({ event: (event) => model.hear(event), connected: () => model.catchUp() }), [model])
  const only = query.value.get('type') ?? ''
  const all = paused ?? model.events.value
  const events = only === '' ? all : all.filter(({ type }) => type.includes(only))
  const place = chosen === null ? events.length - 1 : events.findIndex(({ id }) => id === chosen)
  const go = (to: number) => setChosen(events[Math.min(events.length - 1, Math.max(0, to))]?.id ?? null)
  useKeys({ j: () => go(place + 1), k: () => go(place - 1), Home: () => go(0), End: () => setChosen(null) })
  return (
    <>
      <div class="bar">
        <label>
          Type{' '}
          <input
            value={only}
            placeholder="all"
            onInput={(event) => setQuery({ type: event.currentTarget.value.trim() })}
          />
        </label>
        <button
          type="button"
          aria-pressed={paused !== null}
          onClick={() => setPaused(paused === null ? model.events.value : null)}
        >
          {paused === null ? 'Pause' : 'Go on'}
        </button>
        {(model.from.value === 'now' || model.isBehind.value) && (
          <button type="button" onClick={() => void model.read()}>
            {model.from.value === 'now' ? 'From the beginning' : 'Read on'}
          </button>
        )}
        <span class="quiet" role="status">
          {countText(events.length, 'event')}
          {model.from.value === 'now'
            ? ' since this page listens'
            : model.isBehind.value
              ? '; the log goes on'
              : '; live'}
        </span>
      </div>
      {model.fault.value !== '' && (
        <p class="fault" role="alert">
          {shown(model.fault.value)}
        </p>
      )}
      {events.length === 0 ? (
        <Streams />
      ) : (
        <div class="panes two">
          <section class="pane">
            <VirtualList
              label="Events of the log"
              count={events.length}
              rowHeight={ROW}
              at={place}
              row={(i) => (
                <Line event={events[i]} number={i} isAt={i === place} isLog onClick={() => setChosen(events[i]!.id)} />
              )}
            />
          </section>
          <section class="pane">
            <Detail event={events[place]} />
          </section>
        </div>
      )}
    </>
  )
}

function Streams() {
  const found = useLoaded('streams', () => take(api.v1.streams.$get({ query: { limit: '200' } })))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="scroll" tabIndex={0}>
      <p>Nothing has happened since this page listens. Events appear here as they are appended. Or look at a stream:</p>
      <Loaded of={found}>
        {({ streams, next }) => (
          <>
            <ul class="streams">
              {streams.map(({ stream, revision }) => (
                <li key={stream}>
                  <a class="mono" href={`/audit?tab=log&stream=${encodeURIComponent(stream)}`}>
                    {stream}
                  </a>{' '}
                  <span class="quiet">{countText(revision + 1, 'event')}</span>
                </li>
              ))}
            </ul>
            {next !== null && <p class="quiet">There are others: type the name of one above.</p>}
          </>
        )}
      </Loaded>
    </div>
  )
}

interface LineProps {
  readonly event: EventView | undefined
  readonly number: number
  readonly isAt: boolean
  readonly isLog?: boolean
  readonly onClick: () => void
}

function Line({ event, number, isAt, isLog = false, onClick }: LineProps) {
  return (
    <button type="button" class="event plain" aria-current={isAt || undefined} onClick={onClick}>
      <span class="quiet number">{isLog ? (event?.revision ?? '') : number}</span>
      <span class="quiet">{event === undefined ? '' : clock(Date.parse(event.timestamp))}</span>
      <span class={`type ${toneOf(event?.type ?? '', event)}`}>{shown(event?.type ?? '…')}</span>
      <span class="said">
        <bdi>{event === undefined ? '' : shown(`${substance(event)}${isLog ? `  ${event.stream}` : ''}`)}</bdi>
      </span>
    </button>
  )
}

function Detail({ event }: { event: EventView | undefined }) {
  if (event === undefined) return <p class="quiet">loading …</p>
  const { payload, ...header } = event
  const isAgent = /^(?:agent|external)-/.test(event.stream)
  const agent = event.stream.replace(/^[a-z]+-/, '')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="scroll" tabIndex={0}>
      <h2>
        {shown(event.type)} <span class="quiet mono">{`${event.stream}@${event.revision}`}</span>
      </h2>
      <p>
        {isAgent && (
          <a href={`/runs/${encodeURIComponent(event.runId)}?agent=${encodeURIComponent(agent)}&at=${event.revision}`}>
            In its run
          </a>
        )}{' '}
        <a href={`/audit?tab=log&stream=${encodeURIComponent(event.stream)}&at=${event.revision}`}>In its stream</a>
      </p>
      <JsonView value={payload} name="payload" />
      <JsonView value={header} name="header" />
    </div>
  )
}
