import type { Block } from '../../../../domain/calls/content.ts'
import { substance } from '../../../cli/output/event-row.ts'
import { isFailure } from '../../../cli/output/event-words.ts'
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

function titleOf(type: string, event: EventView | undefined): string {
  if (type === 'user_input') return `${shown(event?.actor.id ?? 'a person')} said`
  if (type === 'model_call_end') return 'model'
  if (event?.type === 'tool_call_end' && event.payload !== null)
    return `${shown(event.payload.toolName)} ${isFailure(event.payload) ? '✗' : '✓'}`
  return type === 'tool_call_end' ? 'tool ✓' : type.replaceAll('_', ' ')
}

function figuresOf({ payload, cut }: EventView): string {
  const figures = [
    payload !== null && 'durationMs' in payload ? span(payload.durationMs) : '',
    payload !== null && 'nanoDollars' in payload && typeof payload.nanoDollars === 'number'
      ? dollars(payload.nanoDollars)
      : '',
    cut === true ? 'cut' : '',
  ]
  return figures.filter((one) => one !== '').join(' · ')
}

/** The start of a call's arguments or result. The detail pane shows all of it. */
const Value = ({ value }: { value: unknown }) =>
  typeof value === 'string' ? <Foreign text={value} most={RESULT} /> : <JsonView value={value ?? null} text={RESULT} />

function Body({ event }: { event: EventView }) {
  const { type, payload } = event
  if (event.altered) return <p class="bad">altered: the stored body is not the one that was sealed</p>
  if (payload === null) return <p class="quiet">erased</p>
  switch (type) {
    case 'user_input':
      return <Markdown text={payload.text} />
    case 'completion':
      return <Markdown text={payload.summary} />
    case 'agent_events':
      return <OtherAgentEvents events={payload.events} />
    case 'model_call_end':
    case 'tool_call_requested':
      return <Answer content={payload.content} />
    case 'tool_call_end': {
      const { error } = payload
      if (error !== undefined) return <Foreign text={`${error.code}: ${error.message}`} most={RESULT} />
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

const textIn = ({ text }: Block): string => (typeof text === 'string' ? text : '')

function Answer({ content }: { content: readonly Block[] }) {
  return (
    <>
      {content.map((block, i) =>
        block.type === 'text' ? (
          <Markdown key={i} text={textIn(block)} />
        ) : block.type === 'tool_use' ? (
          <div key={i} class="call">
            <span class="mono">
              → <bdi>{shown(String(block.name ?? ''))}</bdi>
            </span>
            <Value value={block.input} />
          </div>
        ) : textIn(block) === '' ? null : (
          // For example a model's reasoning before its answer.
          <p key={i} class="quiet">
            <Foreign text={textIn(block)} most={RESULT} />
          </p>
        ),
      )}
    </>
  )
}
