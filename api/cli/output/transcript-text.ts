import { NOTES } from '../../../domain/agent/state/transcript.ts'
import { inputOf } from '../../../domain/calls/content.ts'
import { callArguments, textOf } from '../../../domain/calls/requested-calls.ts'
import { grantText } from '../../../domain/secrets/grant-text.ts'
import type { EventView, Payload, StoredType } from '../../operations/events/schemas.ts'
import { ALTERED } from './event-row.ts'
import { oneLine, safe } from './text.ts'
import { dollars } from './units.ts'

/** Events without content for the conversation. */
const BOOKKEEPING: ReadonlySet<StoredType> = new Set([
  ...(['driver_claimed', 'model_routed', 'model_call_start', 'tool_call_intent', 'workspace_versioned'] as const),
  ...(['step_requested', 'request_noted', 'summary_failed', 'model_held', 'reuse_ended', 'residue'] as const),
])

/** A value in full: text unchanged, anything else as indented JSON. */
const whole = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2)

const indented = (text: string): string[] => (text === '' ? [] : text.split('\n').map((line) => `    ${line}`))

/**
 * Whether the event contains only a part of the call's result. The caller then prints the whole result after the
 * event's lines.
 */
export const hasWhole = ({ type, payload, altered }: EventView): boolean =>
  type === 'tool_call_end' && !altered && payload?.attachment !== undefined

type Kept = Extract<EventView, { readonly payload: object }>
/** The main parts of the agent's definition. The event contains all of it. */
function started({ spec }: Payload<'agent_started'>): string[] {
  const rows: [string, string | undefined][] = [
    ['model', spec.models.requested],
    ['role', spec.role?.name],
    ['mode', spec.policy.mode],
    ['workspace', spec.workspace?.path],
    ['tools', spec.tools.map(({ name }) => name).join(', ')],
    ['secrets', spec.secrets.map((one) => `${grantText(one)} (${one.reference})`).join(', ') || undefined],
  ]
  return ['started:', ...rows.flatMap(([name, value]) => (value === undefined ? [] : [`    ${name}: ${value}`]))]
}

function answered({ content, usage, nanoDollars, servedBy, stopReason, calls, purpose }: Payload<'model_call_end'>) {
  const used = `${servedBy}, ${inputOf(usage)} tokens in, ${usage.output} out, ${dollars(nanoDollars)}, ${stopReason}`
  const others = content.filter(({ type }) => type !== 'text' && type !== 'tool_use')
  // Accepted calls have separate events, which follow.
  const refused = calls.length > 0 ? [] : content.filter(({ type }) => type === 'tool_use')
  return [
    purpose === 'summary' ? `summary of hidden turns (${used}):` : `assistant (${used}):`,
    ...indented(textOf(content)),
    ...others.flatMap((block) => [`  ${block.type}:`, ...indented(whole(block))]),
    ...refused.flatMap((block) => [
      `  asks for ${block.name}:`,
      ...indented(whole(callArguments(block) ?? block.input_text)),
    ]),
  ]
}

/** The full text of an event. Types without a case are shown as JSON. The first line follows the time. */
function said({ type, payload: p, toolCallId }: Kept): string[] {
  switch (type) {
    case 'agent_started':
      return started(p)
    case 'forked':
      return [`forked from ${p.stream}@${p.revision}: what came before stands there`]
    case 'resumed':
      return ['resumed']
    case 'user_input':
      return ['input:', ...indented(p.text)]
    case 'turn_start':
      return []
    case 'model_call_end':
      return answered(p)
    case 'tool_call_start':
      return [
        `call ${toolCallId} ${p.toolName}:`,
        ...indented(whole(p.arguments)),
        ...(p.secrets ?? []).map(
          ({ name, reference, to }) => `  secret ${name} (${reference})${to === undefined ? '' : ` to ${to}`}`,
        ),
      ]
    case 'tool_call_end':
      return [
        `result of ${toolCallId} ${p.toolName}: ${p.success ? 'done' : 'failed'}, attempt ${p.attempt}, ${p.durationMs} ms`,
        ...indented(p.success ? (p.attachment ? '' : whole(p.result)) : `${p.error?.code}: ${p.error?.message}`),
      ]
    case 'approval_requested':
      return [`approval of ${toolCallId} ${p.toolName} is asked for: ${p.reason} (until ${p.expiresAt})`]
    case 'approval_supported':
      return [`${toolCallId} is approved by one of several people${p.reason ? `: ${p.reason}` : ''}`]
    case 'approval_decided':
      return [`${toolCallId} is ${p.decision}${p.reason ? `: ${p.reason}` : ''}`]
    case 'turn_end': {
      const note = NOTES[p.outcome]
      return note === undefined ? [] : ['system:', ...indented(note)]
    }
    case 'recovery':
      return p.phase === 'final_warning'
        ? ['system:', ...indented(p.warning)]
        : [`recovery ${p.phase}: ${p.phase === 'failed' ? p.reason : ''}`]
    case 'completion':
      return ['completed:', ...indented(p.summary), ...indented(p.nextSteps ?? '')]
    case 'error':
      return [`${p.recoverable ? 'the attempt failed' : 'ERROR'} ${p.code}:`, ...indented(p.error)]
    default:
      return [`${type}:`, ...indented(whole(p))]
  }
}

/** An event in full as sanitized lines of a transcript. Empty: the event is not part of the conversation. */
export function transcriptLines(event: EventView): string[] {
  if (BOOKKEEPING.has(event.type)) return []
  const turn =
    event.type === 'turn_start' ? ['', `== turn ${event.turn} of ${event.stream.replace(/^agent-/, '')} ==`] : []
  const { kind, id } = event.actor
  const by = kind === 'user' || kind === 'approver' ? ` ${id}:` : ''
  const [first, ...rest] =
    event.altered || event.payload === null ? [`${event.type} ${event.altered ? ALTERED : '(erased)'}`] : said(event)
  const lines = first === undefined ? [] : [`@${event.revision} ${event.timestamp}${by} ${first}`, ...rest]
  return [...turn, ...lines].flatMap((line, i) => (i === turn.length ? oneLine(line) : safe(line).split('\n')))
}
