import {
  type AgentTrace,
  type AnyTraced,
  CALL_FACTS,
  type CallFact,
  callSteps,
  nameOf,
  type ReadText,
  readText,
  resultAsRead,
  stepAt,
  type Traced,
  type TraceStep,
  type TraceTarget,
} from '../calls/trace.ts'
import { textOrigin } from '../calls/trust.ts'
import type { ExternalEvent } from './events.ts'

// The chain of authority of a call or an event of an external agent.

type Event = Traced<ExternalEvent>
/** An external agent has no turns that keepup knows. */
const placed = (event: Event): Event & AnyTraced => ({ ...event, turn: event.turn ?? 0 })

const isCallFact = (event: Event & AnyTraced): event is Extract<Event & AnyTraced, { type: CallFact['type'] }> =>
  (CALL_FACTS as ReadonlySet<string>).has(event.type)

/**
 * Traces within the events of an external agent. Null: they lack the target. `texts` has only the texts that keepup
 * gave to the agent: its prompt and the results of keepup's tools.
 */
export function traceInExternal(given: readonly Event[], target: TraceTarget): AgentTrace | null {
  const events = given.map(placed)
  if ('toolCallId' in target) return traceCall(events, target.toolCallId)
  const at = events.findIndex(({ stream, revision }) => stream === target.stream && revision === target.revision)
  const event = events[at]
  if (event === undefined) return null
  const id = callIdOf(event)
  const call = id === undefined ? null : traceCall(events, id)
  const found = call ?? { ...originSteps(events), texts: textsBefore(events, at) }
  const among = found.steps.some(({ revision }) => revision === event.revision)
  const text = `${event.type} by ${nameOf(event.actor)}`
  return among ? found : { ...found, steps: [stepAt(call === null ? 'write' : 'effect', event, text), ...found.steps] }
}

/** Requests for a permission name their call in the body. */
const callIdOf = (event: Event): string | undefined =>
  event.toolCallId ??
  (event.type === 'permission_requested' || event.type === 'permission_decided' ? event.body.toolCallId : undefined)

function traceCall(events: readonly (Event & AnyTraced)[], toolCallId: string): AgentTrace | null {
  const at = events.findIndex(
    (event) => callIdOf(event) === toolCallId && /^(?:tool_call|permission)_requested$/.test(event.type),
  )
  const asked = events[at]
  if (asked === undefined) return null
  const from = { ...originSteps(events), texts: textsBefore(events, at) }
  if (asked.type === 'permission_requested') {
    const steps = permissionSteps(events, toolCallId)
    return { ...from, steps: [...steps, ...from.steps] }
  }
  const birth = events[0] ?? null
  const block = (_: string, { revision }: { revision: number }) => {
    const request = events.find((one) => one.revision === revision)
    return request?.type === 'tool_call_requested' ? request.body.content[0] : undefined
  }
  const steps = callSteps({ facts: events.filter(isCallFact), birth, block }, toolCallId)?.steps ?? []
  return { ...from, steps: [...steps, stepAt('answer', asked, 'the agent asked for the call'), ...from.steps] }
}

/** A permission that the agent asked for: its own tool waits for a person. */
function permissionSteps(events: readonly (Event & AnyTraced)[], toolCallId: string): readonly TraceStep[] {
  const steps: TraceStep[] = []
  for (const event of events.toReversed()) {
    if (callIdOf(event) !== toolCallId) continue
    if (event.type === 'permission_decided') {
      const { decision, decided, reason } = event.body
      steps.push(stepAt('approval', event, `${decision} by ${nameOf(event.actor)}`, { decided, quote: reason }))
    }
    if (event.type === 'permission_requested') {
      const { toolName, reason, input } = event.body
      steps.push(stepAt('question', event, `asked about ${toolName}`, { quote: reason }))
      steps.push(stepAt('call', event, `the agent asked to use ${toolName}`, { quote: JSON.stringify(input) }))
    }
  }
  return steps
}

/** Who started the agent: a person, or a call of a keepup agent. */
function originSteps([start]: readonly (Event & AnyTraced)[]): Pick<AgentTrace, 'steps' | 'leadsTo'> {
  if (start?.type !== 'external_started') return { steps: [], leadsTo: null }
  const { parent, backend, request } = start.body
  const quote = request.prompt
  if (parent === undefined)
    return { steps: [stepAt('start', start, `${nameOf(start.actor)} started ${backend}`, { quote })], leadsTo: null }
  const { toolCallId } = parent
  const step = stepAt('delegation', start, `${backend} was started by the call ${toolCallId}`, { quote })
  return { steps: [step], leadsTo: { toolCallId } }
}

function textsBefore(events: readonly (Event & AnyTraced)[], at: number): readonly ReadText[] {
  const texts: ReadText[] = []
  let untrustedBefore = false
  for (const event of events.slice(0, at)) {
    untrustedBefore ||= texts.at(-1)?.untrusted === true
    if (event.type === 'external_started') {
      const source = event.body.parent === undefined ? 'person' : 'agent'
      texts.push(readText(event, textOrigin(source), nameOf(event.actor), event.body.request.prompt))
    }
    if (event.type === 'tool_call_end') texts.push(resultAsRead(event, { untrustedBefore, sandboxed: true }))
  }
  return texts
}
