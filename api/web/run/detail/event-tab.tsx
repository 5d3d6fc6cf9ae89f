import { useEffect } from 'preact/hooks'
import { substance } from '../../../cli/output/event-row.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { setQuery } from '../../page/router.ts'
import { JsonView } from '../../parts/code/json-view.tsx'
import { instant, size } from '../../parts/format.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { ProofButton } from '../../parts/proof-button.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import { goTo } from '../position.ts'
import { CallDecision } from './call-decision.tsx'
import type { DetailProps } from './detail-props.ts'
import { WholeResult } from './whole-result.tsx'

/** The event at the position: input, output and cause. */
export function EventTab({ runId, agent, place }: DetailProps) {
  const { events, outline } = agent
  events.version.value
  const work = outline.work.find(({ from, to }) => from === place || to === place)
  const places = work === undefined ? [place] : [work.from, ...(work.to === null ? [] : [work.to])]
  useEffect(() => events.want('detail', places), [places.join()])
  const event = events.get(place)
  if (event === undefined) return <p class="quiet">loading …</p>
  const [start, end] =
    work === undefined ? [] : [events.get(work.from), work.to === null ? undefined : events.get(work.to)]
  return (
    <>
      <h2>
        #{place} {event.type}
      </h2>
      <Facts event={event} />
      {event.toolCallId !== undefined && <CallDecision runId={runId} toolCallId={event.toolCallId} />}
      <p>
        <button type="button" class="link" onClick={() => setQuery({ tab: 'trace', line: null })}>
          Where did this come from?
        </button>{' '}
        <ProofButton stream={event.stream} revision={event.revision} />
      </p>
      {work?.kind === 'tool' ? <ToolCall start={start} end={end} /> : <Plain event={event} />}
      {work !== undefined && work.to !== null && (
        <p>
          <button type="button" onClick={() => goTo(place === work.from ? work.to : work.from)}>
            {place === work.from ? `to its end, #${work.to}` : `to its beginning, #${work.from}`}
          </button>
        </p>
      )}
    </>
  )
}

function Facts({ event }: { event: EventView }) {
  const { actor, turn, timestamp, toolCallId, epoch } = event
  const who =
    'id' in actor && actor.id !== undefined && actor.id !== actor.kind ? `${actor.kind} ${actor.id}` : actor.kind
  return (
    <dl class="facts">
      <dt>by</dt>
      <dd>
        <bdi>{shown(who)}</bdi>
      </dd>
      <dt>when</dt>
      <dd>{instant(timestamp)}</dd>
      {turn > 0 && (
        <>
          <dt>turn</dt>
          <dd>{turn}</dd>
        </>
      )}
      {toolCallId !== undefined && (
        <>
          <dt>call</dt>
          <dd class="mono">{toolCallId}</dd>
        </>
      )}
      {epoch !== undefined && (
        <>
          <dt>driver</dt>
          <dd>epoch {epoch}</dd>
        </>
      )}
    </dl>
  )
}

function ToolCall({ start, end }: { start: EventView | undefined; end: EventView | undefined }) {
  const asked = start?.type === 'tool_call_start' ? start.payload : null
  const ended = end?.type === 'tool_call_end' ? end.payload : undefined
  const attachment = ended?.attachment
  return (
    <>
      <h3>
        Input of <bdi>{shown(asked?.toolName ?? 'the call')}</bdi>
      </h3>
      {start === undefined ? <p class="quiet">loading …</p> : <JsonView value={asked?.arguments ?? null} />}
      <h3>Output</h3>
      {end === undefined && <p class="quiet">it has not ended here</p>}
      {ended === null && <p class="quiet">{end?.altered ? 'altered: not the sealed one' : 'erased'}</p>}
      {ended?.error !== undefined && <JsonView value={ended.error} />}
      {ended?.result !== undefined &&
        (typeof ended.result === 'string' ? (
          <pre>
            <Foreign text={ended.result} />
          </pre>
        ) : (
          <JsonView value={ended.result} />
        ))}
      {(attachment !== undefined || end?.cut) && end?.toolCallId !== undefined && (
        <WholeResult
          key={end.toolCallId}
          toolCallId={end.toolCallId}
          about={attachment === undefined ? 'the whole result' : `the whole result, ${size(attachment.size)}`}
        />
      )}
    </>
  )
}

function Plain({ event }: { event: EventView }) {
  if (event.altered) return <p class="fault">altered: the stored body is not the one that was sealed</p>
  if (event.payload === null) return <p class="quiet">erased</p>
  const said = saidIn(event.payload)
  return (
    <>
      {typeof said === 'string' ? <Markdown text={said} /> : <p dir="auto">{shown(substance(event))}</p>}
      <h3>Payload</h3>
      <JsonView value={event.payload} />
      {event.cut && <p class="quiet">Long texts are cut here; the whole event is under Raw.</p>}
    </>
  )
}

/** The text of a person, an agent or a model. Undefined: the event has none. */
function saidIn(payload: NonNullable<EventView['payload']>) {
  if ('text' in payload) return payload.text
  if ('summary' in payload) return payload.summary
  return 'content' in payload ? payload.content.map(({ text }) => text ?? '').join('\n\n') : undefined
}
