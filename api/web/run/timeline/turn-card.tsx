import type { Block } from '../../../../domain/calls/content.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { clock, money, span } from '../../parts/format.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import type { AgentModel } from '../agent-model.ts'
import type { TurnRow } from '../conversation.ts'
import { openEvent } from '../open-event.ts'

/** The most characters of a model's reasoning. The detail pane shows all of it. */
const REASONING = 600

interface TurnCardProps {
  readonly row: TurnRow
  readonly agent: AgentModel
  /** The position. What happened after it is shown dimmed. */
  readonly place: number
  readonly isCurrent: boolean
}

/** The heading of a turn with the model's figures, and the model's text. Calls follow as separate rows. */
export function TurnCard({ row, agent, place, isCurrent }: TurnCardProps) {
  const { asked, answered, revision, turn } = row
  const { times } = agent.outline
  // Rows change in place. Subscribe to the signals, so that the card renders again when its events arrive.
  agent.length.value
  agent.events.version.value
  const event = answered === null ? undefined : agent.events.get(answered)
  const last = answered ?? asked ?? revision
  const state = revision > place ? 'future' : isCurrent ? 'current' : ''
  return (
    <article class={`card turn-card ${state}`} aria-current={isCurrent || undefined}>
      <header>
        <button type="button" class="link" onClick={() => openEvent(last)}>
          #{last}
        </button>
        <h2>Turn {turn}</h2>
        <span class="quiet">{clock(times[revision]!)}</span>
        {event?.type === 'model_call_end' && event.payload !== null && (
          <span class="quiet">
            <bdi>{shown(event.payload.servedBy)}</bdi>
            {` · ${span(event.payload.durationMs)} · ${money(event.payload.nanoDollars)}`}
          </span>
        )}
      </header>
      {answered !== null && <Answer event={event} />}
    </article>
  )
}

const textIn = ({ text }: Block): string => (typeof text === 'string' ? text : '')

/** Blocks other than the answer's text, for example a model's reasoning before its answer, are quiet. */
function Answer({ event }: { event: EventView | undefined }) {
  if (event === undefined) return <p class="quiet">…</p>
  if (event.altered) return <p class="bad">altered: the stored body is not the one that was sealed</p>
  if (event.type !== 'model_call_end' || event.payload === null) return <p class="quiet">erased</p>
  return (
    <>
      {event.payload.content.map((block, i) =>
        block.type === 'tool_use' || textIn(block) === '' ? null : block.type === 'text' ? (
          <Markdown key={i} text={textIn(block)} />
        ) : (
          <p key={i} class="quiet">
            <Foreign text={textIn(block)} most={REASONING} />
          </p>
        ),
      )}
      {event.cut && <p class="quiet">Only the beginning is shown here; the whole answer is in the details.</p>}
    </>
  )
}
