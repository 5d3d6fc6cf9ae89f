import { isFailure } from '../../../cli/output/event-words.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import { AnsiText } from '../../parts/code/ansi-text.tsx'
import { span } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import type { AgentModel } from '../agent-model.ts'
import type { CallRow } from '../conversation.ts'
import { openEvent } from '../open-event.ts'
import { endText, failureText, subjectText } from './call-text.ts'
import { CallView } from './call-view.tsx'

interface CallCardProps {
  readonly row: CallRow
  readonly runId: string
  readonly tree: RunTree | null
  readonly agent: AgentModel
  /** The position. What happened after it is shown dimmed. */
  readonly place: number
  readonly isCurrent: boolean
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** A tool call on one line: tool, subject, result and duration. It opens to the whole. */
export function CallCard({ row, runId, tree, agent, place, isCurrent, isOpen, onToggle }: CallCardProps) {
  const { events, outline } = agent
  // Rows change in place. Subscribe to the signals, so that the card renders again when its events arrive.
  agent.length.value
  events.version.value
  const get = (revision: number | null) => (revision === null ? undefined : events.get(revision))
  const start = get(row.start)
  const end = get(row.end)
  const ended = end?.type === 'tool_call_end' ? end.payload : undefined
  const isBad = ended !== undefined && ended !== null && isFailure(ended)
  const toolName = toolOf(start) ?? ended?.toolName ?? toolOf(get(row.question)) ?? 'call'
  const args = start?.type === 'tool_call_start' ? start.payload?.arguments : undefined
  const state = row.revision > place ? 'future' : isCurrent ? 'current' : ''
  const last = row.end ?? row.decision ?? row.question ?? row.start ?? row.revision
  return (
    <article class={`card call-card ${state}`} aria-current={isCurrent || undefined}>
      <header>
        <button
          type="button"
          class="link"
          onClick={() => openEvent(last)}
          title={`To event ${last}, the last of this call`}
        >
          #{row.revision}
        </button>
        <button type="button" class="plain call-line" aria-expanded={isOpen} onClick={onToggle}>
          <Sign isBad={isBad} ended={row.end !== null} waits={row.question !== null && row.decision === null} />
          <span class={`type ${isBad ? 'bad' : 'tool'}`}>
            <bdi>{shown(toolName)}</bdi>
          </span>
          <span class="call-subject mono">
            <bdi>{shown(subjectText(toolName, args))}</bdi>
          </span>
          <Decision question={row.question} decision={get(row.decision)} />
          {ended && <span class={isBad ? 'bad' : 'quiet'}>{endText(ended)}</span>}
          {row.start !== null && row.end !== null && (
            <span class="quiet">{span(ended?.durationMs ?? outline.times[row.end]! - outline.times[row.start]!)}</span>
          )}
        </button>
      </header>
      {end?.altered && <p class="bad">altered: the stored body is not the one that was sealed</p>}
      {ended === null && !end?.altered && <p class="quiet">erased</p>}
      {isBad && !isOpen && failureText(ended) !== '' && (
        <pre class="why">
          <Foreign text={failureText(ended)} most={2_000} />
        </pre>
      )}
      {row.end === null && <LiveOutput text={agent.outputs.value.get(start?.toolCallId ?? '') ?? ''} />}
      {isOpen && <CallView {...{ runId, tree, agent, toolName, start, end }} child={get(row.child)} />}
    </article>
  )
}

/** The lines that a running call shows below its own line. */
const LINES = 12

/** The last lines that a running call has written so far. */
function LiveOutput({ text }: { text: string }) {
  if (text === '') return null
  const lines = text.trimEnd().split('\n')
  return (
    <section class="terminal live" aria-label="Output so far">
      {lines.length > LINES && <p class="quiet">… the call's end will show the earlier lines</p>}
      <AnsiText text={lines.slice(-LINES).join('\n')} />
    </section>
  )
}

const toolOf = (event: EventView | undefined): string | undefined =>
  event?.type === 'tool_call_start' || event?.type === 'approval_requested' ? event.payload?.toolName : undefined

function Sign({ isBad, ended, waits }: { isBad: boolean; ended: boolean; waits: boolean }) {
  const [sign, words, tone] = ended
    ? isBad
      ? ['✗', 'failed', 'bad']
      : ['✓', 'done', 'good']
    : waits
      ? ['?', 'waits for a person', 'warn']
      : ['…', 'has not ended', 'quiet']
  return (
    <span class={`sign ${tone}`} role="img" aria-label={words}>
      {sign}
    </span>
  )
}

/** The question about a call, and who decided it. */
function Decision({ question, decision }: { question: number | null; decision: EventView | undefined }) {
  if (question === null) return null
  if (decision === undefined) return <span class="badge">asks a person</span>
  const by = decision.actor.kind === 'approver' || decision.actor.kind === 'user' ? decision.actor.id : undefined
  return (
    <span class="quiet">
      {words(decision)}
      {by !== undefined && (
        <>
          {' '}
          by <bdi>{shown(by)}</bdi>
        </>
      )}
    </span>
  )
}

function words({ type, payload }: EventView): string {
  if (type === 'approval_decided') return payload?.decision ?? 'decided'
  if (type === 'approval_expired') return 'approval expired'
  return type === 'tool_call_resolved' ? `resolved: ${payload?.decision ?? ''}` : 'approval void'
}
