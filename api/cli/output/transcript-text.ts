import { NOTES } from '../../../domain/agent/state/messages.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { callArguments, textOf } from '../../../domain/calls/requested-calls.ts'
import { grantText } from '../../../domain/secrets/destinations.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import { ALTERED } from './event-text.ts'
import { oneLine, safe } from './text.ts'
import { dollars } from './units.ts'

type Payload = NonNullable<EventView['payload']>

/** Events without content for the conversation. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  ...['driver_claimed', 'model_routed', 'model_call_start', 'tool_call_intent', 'workspace_versioned', 'residue'],
  ...['step_requested', 'request_noted', 'summary_failed', 'model_held', 'reuse_ended'],
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

const resultOf = (p: Payload): string => (p.attachment === undefined ? whole(p.result) : '')

const failure = (error: unknown): string => {
  const { code, message } = (error ?? {}) as { code?: string; message?: string }
  return `${code}: ${message}`
}

/** The main parts of the agent's definition. The event contains all of it. */
function started({ spec: given }: Payload): string[] {
  const spec = given as AgentSpec
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

function answered(p: Payload): string[] {
  const content = (Array.isArray(p.content) ? p.content : []) as Block[]
  const usage = (p.usage ?? {}) as Record<string, number>
  const input = (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  const cost = typeof p.nanoDollars === 'number' ? dollars(p.nanoDollars) : '?'
  const used = `${p.servedBy}, ${input} tokens in, ${usage.output ?? 0} out, ${cost}, ${p.stopReason}`
  const others = content.filter(({ type }) => type !== 'text' && type !== 'tool_use')
  // Accepted calls have separate events, which follow.
  const taken = Array.isArray(p.calls) && p.calls.length > 0
  const calls = content
    .filter(({ type }) => type === 'tool_use' && !taken)
    .flatMap((block) => [`  asks for ${block.name}:`, ...indented(whole(callArguments(block) ?? block.input_text))])
  return [
    p.purpose === 'summary' ? `summary of hidden turns (${used}):` : `assistant (${used}):`,
    ...indented(textOf(content)),
    ...others.flatMap((block) => [`  ${block.type}:`, ...indented(whole(block))]),
    ...calls,
  ]
}

/** The full text of each type. Types without an entry are shown as JSON. The first line follows the time. */
const SAID: Readonly<Record<string, (p: Payload, event: EventView) => string[]>> = {
  agent_started: started,
  resumed: () => ['resumed'],
  user_input: (p) => ['input:', ...indented(whole(p.text))],
  turn_start: () => [],
  model_call_end: answered,
  tool_call_start: (p, { toolCallId }) => {
    const secrets = (p.secrets ?? []) as { name: string; reference: string }[]
    return [
      `call ${toolCallId} ${p.toolName}:`,
      ...indented(whole(p.arguments)),
      ...secrets.map(({ name, reference }) => `  secret ${name} (${reference})`),
    ]
  },
  tool_call_end: (p, { toolCallId }) => [
    `result of ${toolCallId} ${p.toolName}: ${p.success === true ? 'done' : 'failed'}, attempt ${p.attempt}, ${p.durationMs} ms`,
    ...indented(p.success === true ? resultOf(p) : failure(p.error)),
  ],
  approval_requested: (p, { toolCallId }) => [
    `approval of ${toolCallId} ${p.toolName} is asked for: ${p.reason} (until ${p.expiresAt})`,
  ],
  approval_decided: (p, { toolCallId }) => [`${toolCallId} is ${p.decision}${p.reason ? `: ${p.reason}` : ''}`],
  turn_end: (p) => {
    const note = NOTES[p.outcome as keyof typeof NOTES]
    return note === undefined ? [] : ['system:', ...indented(note)]
  },
  recovery: (p) =>
    p.phase === 'final_warning'
      ? ['system:', ...indented(whole(p.warning))]
      : [`recovery ${p.phase}: ${p.reason ?? ''}`],
  completion: (p) => [
    'completed:',
    ...indented(whole(p.summary)),
    ...(p.nextSteps ? indented(whole(p.nextSteps)) : []),
  ],
  error: (p) => [`${p.recoverable === true ? 'the attempt failed' : 'ERROR'} ${p.code}:`, ...indented(whole(p.error))],
  forked: (p) => [`forked from ${p.stream}@${p.revision}: what came before stands there`],
}

/** An event in full as sanitized lines of a transcript. Empty: the event is not part of the conversation. */
export function transcriptLines(event: EventView): string[] {
  if (BOOKKEEPING.has(event.type)) return []
  const turn =
    event.type === 'turn_start' ? ['', `== turn ${event.turn} of ${event.stream.replace(/^agent-/, '')} ==`] : []
  const { kind, id } = event.actor as { kind: string; id?: string }
  const by = kind === 'user' || kind === 'approver' ? ` ${id}:` : ''
  const said =
    event.altered || event.payload === null
      ? [`${event.type} ${event.altered ? ALTERED : '(erased)'}`]
      : (SAID[event.type]?.(event.payload, event) ?? [`${event.type}:`, ...indented(whole(event.payload))])
  const [first, ...rest] = said
  const lines = first === undefined ? [] : [`@${event.revision} ${event.timestamp}${by} ${first}`, ...rest]
  return [...turn, ...lines].flatMap((line, i) => (i === turn.length ? oneLine(line) : safe(line).split('\n')))
}
