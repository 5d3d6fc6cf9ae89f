import { substance } from '../../../cli/output/event-row.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { clock, money, span } from '../../parts/format.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { wholeEvent } from '../detail/whole-event.ts'
import { OtherAgentEvents, type ReportedEvent } from './other-agent.tsx'
import { ReportedSpans } from './reported-spans.tsx'
import { toneOf } from './tone.ts'

interface CardProps {
  readonly agentId: string
  readonly type: string
  readonly revision: number
  /** Absent: still loading. */
  readonly event: EventView | undefined
  /** Further batches of an external agent's events, which the card shows together with the first one. */
  readonly more: readonly (EventView | undefined)[]
  readonly state: 'future' | 'current' | ''
  readonly onChoose: () => void
}

/** An event in the conversation view that belongs to no turn and no call. */
export function FeedCard({ agentId, type, revision, event, more, state, onChoose }: CardProps) {
  return (
    <article class={`card ${toneOf(type, event)} ${state}`} aria-current={state === 'current' || undefined}>
      <header>
        <button type="button" class="link" onClick={onChoose}>
          #{revision}
        </button>
        <span class={`type ${toneOf(type, event)}`}>
          <bdi>{titleOf(type, event)}</bdi>
        </span>
        {event !== undefined && <span class="quiet">{clock(Date.parse(event.timestamp))}</span>}
        {event !== undefined && <span class="quiet">{figuresOf(event)}</span>}
      </header>
      {event === undefined ? <p class="quiet">…</p> : <Body agentId={agentId} event={event} more={more} />}
    </article>
  )
}

/** The events of a batch. A batch that cannot be shown says so. */
function eventsOf(agentId: string, batch: EventView | undefined): readonly ReportedEvent[] {
  if (batch === undefined) return []
  const { type, payload, revision, altered, cut } = batch
  if (altered) return [{ event: { kind: 'Error', message: 'altered: the stored body is not the one that was sealed' } }]
  if (type !== 'agent_events' || payload === null) return [{ event: { kind: 'Status', message: 'erased' } }]
  return payload.events.map((event, n) =>
    cut === true ? { event, whole: () => wholeData(agentId, revision, n) } : { event },
  )
}

/** The whole data of an event in a batch. */
async function wholeData(agentId: string, revision: number, n: number): Promise<unknown> {
  const { type, payload } = await wholeEvent(agentId, revision)
  return type === 'agent_events' ? payload?.events[n]?.data : undefined
}

function titleOf(type: string, event: EventView | undefined): string {
  return type === 'user_input' ? `${shown(event?.actor.id ?? 'a person')} said` : type.replaceAll('_', ' ')
}

function figuresOf({ payload, cut }: EventView): string {
  const figures = [
    payload !== null && 'durationMs' in payload ? span(payload.durationMs) : '',
    payload !== null && 'nanoDollars' in payload && typeof payload.nanoDollars === 'number'
      ? money(payload.nanoDollars)
      : '',
    cut === true ? 'shortened here' : '',
  ]
  return figures.filter((one) => one !== '').join(' · ')
}

function Body({ agentId, event, more }: Pick<CardProps, 'agentId' | 'more'> & { readonly event: EventView }) {
  const { type, payload } = event
  if (event.altered) return <p class="bad">altered: the stored body is not the one that was sealed</p>
  if (payload === null) return <p class="quiet">erased</p>
  switch (type) {
    case 'user_input':
      return <Markdown text={payload.text} />
    case 'completion':
      return <Markdown text={payload.summary} />
    case 'agent_events':
      return <OtherAgentEvents events={[event, ...more].flatMap((batch) => eventsOf(agentId, batch))} />
    case 'spans_reported':
      return <ReportedSpans spans={payload.spans} />
    default:
      return (
        <p>
          <bdi>{shown(substance(event))}</bdi>
        </p>
      )
  }
}
