import { isFailure, substance } from '../../../cli/output/event-text.ts'
import { dollars } from '../../../cli/output/units.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { clock, span } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import { OtherAgentEvents } from './other-agent.tsx'
import { toneOf } from './tone.ts'

const RESULT = 600

interface CardProps {
  readonly type: string
  readonly revision: number
  /** Absent: still loading. */
  readonly event: EventView | undefined
  readonly state: 'future' | 'current' | ''
  readonly onChoose: () => void
}

/** An event in the conversation view. */
export function FeedCard({ type, revision, event, state, onChoose }: CardProps) {
  return (
    <article class={`card ${toneOf(type, event)} ${state}`} aria-current={state === 'current' || undefined}>
      <header>
        <button type="button" class="link" onClick={onChoose}>
          #{revision}
        </button>
        <span class={`type ${toneOf(type, event)}`}>{titleOf(type, event)}</span>
        {event !== undefined && <span class="quiet">{clock(Date.parse(event.timestamp))}</span>}
        {event !== undefined && <span class="quiet">{figuresOf(event)}</span>}
      </header>
      {event === undefined ? <p class="quiet">…</p> : <Body event={event} />}
    </article>
  )
}

interface Payload {
  readonly text?: string
  readonly content?: readonly { type: string; text?: string; name?: string; input?: unknown }[]
  readonly toolName?: string
  readonly askedName?: string
  readonly result?: unknown
  readonly error?: { code: string; message: string } | string
  readonly summary?: string
  readonly durationMs?: number
  readonly nanoDollars?: number | null
  readonly attachment?: { size: number }
  readonly events?: readonly unknown[]
}

function titleOf(type: string, event: EventView | undefined): string {
  const { toolName, askedName } = (event?.payload ?? {}) as Payload
  if (type === 'user_input')
    return `${shown(event?.actor && 'id' in event.actor ? String(event.actor.id) : 'a person')} said`
  if (type === 'model_call_end') return 'model'
  if (type === 'tool_call_end')
    return `${shown(askedName ?? toolName ?? 'tool')} ${event?.payload && isFailure(event.payload) ? '✗' : '✓'}`
  return type.replaceAll('_', ' ')
}

function figuresOf({ payload, cut }: EventView): string {
  const { durationMs, nanoDollars } = (payload ?? {}) as Payload
  const figures = [
    durationMs === undefined ? '' : span(durationMs),
    typeof nanoDollars === 'number' ? dollars(nanoDollars) : '',
    cut === true ? 'cut' : '',
  ]
  return figures.filter((one) => one !== '').join(' · ')
}

/** The start of a call's arguments or result. The detail pane shows all of it. */
const Value = ({ value }: { value: unknown }) =>
  typeof value === 'string' ? <Foreign text={value} most={RESULT} /> : <JsonView value={value ?? null} text={RESULT} />

function Body({ event }: { event: EventView }) {
  const payload = event.payload as Payload | null
  if (event.altered) return <p class="bad">altered: the stored body is not the one that was sealed</p>
  if (payload === null) return <p class="quiet">erased</p>
  switch (event.type) {
    case 'user_input':
      return <Markdown text={payload.text ?? ''} />
    case 'completion':
      return <Markdown text={payload.summary ?? ''} />
    case 'agent_events':
      return <OtherAgentEvents events={payload.events ?? []} />
    case 'model_call_end':
    case 'tool_call_requested':
      return <Answer content={payload.content ?? []} />
    case 'tool_call_end': {
      const { error } = payload
      if (typeof error === 'object') return <Foreign text={`${error.code}: ${error.message}`} most={RESULT} />
      return <Value value={payload.result} />
    }
    default:
      return (
        <p>
          <bdi>{shown(substance(event))}</bdi>
        </p>
      )
  }
}

function Answer({ content }: { content: NonNullable<Payload['content']> }) {
  return (
    <>
      {content.map((block, i) =>
        block.type === 'text' ? (
          <Markdown key={i} text={block.text ?? ''} />
        ) : block.type === 'tool_use' ? (
          <div key={i} class="call">
            <span class="mono">
              → <bdi>{shown(block.name ?? '')}</bdi>
            </span>
            <Value value={block.input} />
          </div>
        ) : block.text === undefined ? null : (
          // For example a model's reasoning before its answer.
          <p key={i} class="quiet">
            <Foreign text={block.text} most={RESULT} />
          </p>
        ),
      )}
    </>
  )
}
