import { textOf } from '../../calls/requested-calls.ts'
import {
  type AgentTrace,
  CALL_FACTS,
  type CallFact,
  type CallHistory,
  callSteps,
  nameOf,
  type ReadText,
  readText,
  resultAsRead,
  stepAt,
  type Traced,
  type TraceStep,
  type TraceTarget,
} from '../../calls/trace.ts'
import { type TextOrigin, textOrigin } from '../../calls/trust.ts'
import { isPerson } from '../../tree/message-events.ts'
import type { AgentEvent, BodyOf, EventOf } from '../events/events.ts'

// The chain of authority of a call or an event of one agent, and the texts that its model had read before.

type Event = Traced<AgentEvent>
type Of<T extends AgentEvent['type']> = Traced<EventOf<T>>

const isCallFact = (event: Event): event is Extract<Event, { type: CallFact['type'] }> =>
  (CALL_FACTS as ReadonlySet<string>).has(event.type)

/** Traces within the events of an agent, those of a fork's source included. Null: they lack the target. */
export function traceInAgent(events: readonly Event[], target: TraceTarget): AgentTrace | null {
  if ('toolCallId' in target) return traceCall(events, target.toolCallId)
  const at = events.findIndex(({ stream, revision }) => stream === target.stream && revision === target.revision)
  const event = events[at]
  if (event === undefined) return null
  const call = event.toolCallId === undefined ? null : traceCall(events, event.toolCallId)
  if (call !== null) {
    const among = call.steps.some(({ stream, revision }) => stream === event.stream && revision === event.revision)
    return among ? call : { ...call, steps: [stepAt('effect', event, event.type), ...call.steps] }
  }
  const origin = 'origin' in event.body ? event.body.origin : undefined
  if (origin !== undefined && event.type !== 'agent_started') {
    const { stream, revision } = origin
    return { steps: [eventStep(event)], leadsTo: { stream, revision }, texts: textsBefore(events, at) }
  }
  const before = originSteps(events, at)
  const isLast = before.steps.some(({ stream, revision }) => stream === event.stream && revision === event.revision)
  const own = isLast ? [] : [eventStep(event)]
  return { ...before, steps: [...own, ...before.steps], texts: textsBefore(events, at) }
}

function eventStep(event: Event): TraceStep {
  if (event.type !== 'model_call_end') return stepAt('write', event, `${event.type} by ${nameOf(event.actor)}`)
  return answerStep(event)
}

const answerStep = (event: Of<'model_call_end'>): TraceStep =>
  stepAt('answer', event, `answer of ${event.body.servedBy} in turn ${event.turn}`, {
    quote: answerText(event.body),
  })

/** The text of an answer; of an answer without text, the tools that it calls. */
const answerText = ({ content, calls }: BodyOf<'model_call_end'>): string =>
  textOf(content) || (calls.length === 0 ? '' : `calls ${calls.map(({ toolName }) => toolName).join(', ')}`)

function traceCall(events: readonly Event[], toolCallId: string): AgentTrace | null {
  const found = callSteps(historyOf(events), toolCallId)
  if (found === null) return null
  const { stream, body } = found.start
  const asking = events.findIndex((one) => one.stream === stream && one.revision === body.argumentsRef.revision)
  const answer = events[asking]
  const asked = answer?.type === 'model_call_end' ? [answerStep(answer)] : []
  const at = asking < 0 ? events.indexOf(found.start as Event) : asking
  const from = originSteps(events, at)
  return { ...from, steps: [...found.steps, ...asked, ...from.steps], texts: textsBefore(events, at) }
}

function historyOf(events: readonly Event[]): CallHistory {
  return {
    facts: events.filter(isCallFact),
    birth: events.find(({ type }) => type === 'agent_started') ?? null,
    block(stream, { revision, block }) {
      const answer = events.find((one) => one.stream === stream && one.revision === revision)
      return answer?.type === 'model_call_end' ? answer.body.content[block] : undefined
    },
  }
}

/** Who asked for the work at a place: the input, the fork and the start before it. */
function originSteps(events: readonly Event[], at: number): Pick<AgentTrace, 'steps' | 'leadsTo'> {
  const before = events.slice(0, at + 1)
  const steps: TraceStep[] = []
  const input = before.findLast((one) => one.type === 'user_input')
  if (input?.type === 'user_input')
    steps.push(stepAt('input', input, `input of ${nameOf(input.actor)}`, { quote: input.body.text }))
  for (const fork of before.toReversed())
    if (fork.type === 'forked')
      steps.push(
        stepAt('fork', fork, `${nameOf(fork.actor)} continued ${fork.body.stream} after event ${fork.body.revision}`),
      )
  const start = before.find((one) => one.type === 'agent_started')
  if (start?.type !== 'agent_started') return { steps, leadsTo: null }
  const { parent, spec } = start.body
  const as = spec.role === null ? '' : ` as ${spec.role.name}`
  if (parent === undefined)
    return { steps: [...steps, stepAt('start', start, `${nameOf(start.actor)} started the run${as}`)], leadsTo: null }
  const { toolCallId } = parent
  return {
    steps: [...steps, stepAt('delegation', start, `started${as} by the call ${toolCallId}`)],
    leadsTo: { toolCallId },
  }
}

/** The texts that a model had read when it gave the answer at `answerAt`. */
function textsBefore(events: readonly Event[], answerAt: number): readonly ReadText[] {
  // Inputs that arrive during a turn are read in the next one.
  const called = events.slice(0, answerAt + 1).findLastIndex(({ type }) => type === 'model_call_start')
  const end = called < 0 ? answerAt : called
  const turn = events.slice(0, end).findLastIndex(({ type }) => type === 'turn_start')
  const texts: ReadText[] = []
  let sandboxed = true
  let untrustedBefore = false
  for (const [at, event] of events.slice(0, end).entries()) {
    if (event.type === 'agent_started') sandboxed = event.body.spec.policy.sandboxed
    if (at > turn && !FACTS_OF_REQUESTS.has(event.type)) continue
    for (const text of textsOf(event, { untrustedBefore, sandboxed })) {
      texts.push(text)
      untrustedBefore ||= text.untrusted
    }
  }
  return texts
}

/** Recorded between the start of a turn and the request that shows them. */
const FACTS_OF_REQUESTS: ReadonlySet<AgentEvent['type']> = new Set(['prompt_set', 'knowledge_added'] as const)

/** The texts of an event that join the messages of the model. */
function textsOf(event: Event, around: Parameters<typeof resultAsRead>[1]): readonly ReadText[] {
  const { toolCallId, actor } = event
  const read = (origin: TextOrigin, from: string, text: string) => readText(event, origin, from, text)
  switch (event.type) {
    case 'prompt_set':
      return [read(textOrigin('prompt'), 'the system prompt', event.body.system)]
    case 'knowledge_added':
      return event.body.items.map(({ source: { kind, name }, text = '' }) =>
        read(textOrigin(kind === 'memory' ? 'memory' : 'knowledge'), name, text),
      )
    case 'user_input':
      // The courier brings the task that another agent has written.
      return [read(textOrigin(actor.kind === 'courier' ? 'agent' : 'person'), nameOf(actor), event.body.text)]
    case 'message_received':
      // The answer that a call waits for is the result of that call.
      if (toolCallId !== undefined) return []
      return [read(textOrigin(isPerson(event.body.from) ? 'person' : 'agent'), event.body.from, event.body.text)]
    case 'lost_call_decided':
      return [read(textOrigin('person'), nameOf(actor), event.body.toolName)]
    case 'model_call_end':
      return [read(textOrigin('model'), event.body.servedBy, answerText(event.body))]
    case 'tool_call_end':
      return [resultAsRead(event, around)]
    default:
      return []
  }
}

/** The types of events that a trace reads. */
export const TRACED_TYPES: readonly AgentEvent['type'][] = [
  ...(['agent_started', 'forked', 'user_input', 'message_received', 'turn_start', 'prompt_set'] as const),
  ...(['knowledge_added', 'model_call_start', 'model_call_end', 'lost_call_decided'] as const),
  ...CALL_FACTS,
]
