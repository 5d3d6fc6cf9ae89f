import { substance } from '../../../cli/output/event-row.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { clock, money, span } from '../../parts/format.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { OtherAgentEvents } from './other-agent.tsx'
import { ReportedSpans } from './reported-spans.tsx'
import { toneOf } from './tone.ts'

interface CardProps {
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
export function FeedCard({ type, revision, event, more, state, onChoose }: CardProps) {
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
      {event === undefined ? <p class="quiet">…</p> : <Body event={event} more={more} />}
    </article>
  )
}

/** The events of a further batch. A batch that cannot be shown says so. */
function eventsOf(event: EventView | undefined): readonly unknown[] {
  if (event === undefined) return []
  if (event.altered) return [{ kind: 'Error', message: 'altered: the stored body is not the one that was sealed' }]
  if (event.type !== 'agent_events' || event.payload === null) return [{ kind: 'Status', message: 'erased' }]
  return event.payload.events
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
    cut === true ? 'cut' : '',
  ]
  return figures.filter((one) => one !== '').join(' · ')
}

function Body({ event, more }: { event: EventView; more: CardProps['more'] }) {
  const { type, payload } = event
  if (event.altered) return <p class="bad">altered: the stored body is not the one that was sealed</p>
  if (payload === null) return <p class="quiet">erased</p>
  switch (type) {
    case 'user_input':
      return <Markdown text={payload.text} />
    case 'completion':
      return <Markdown text={payload.summary} />
    case 'agent_events':
      return <OtherAgentEvents events={[...payload.events, ...more.flatMap(eventsOf)]} />
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
