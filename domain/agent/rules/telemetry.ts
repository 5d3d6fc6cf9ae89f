import { type Block, inputOf, type Usage } from '../../calls/content.ts'
import { callArguments } from '../../calls/requested-calls.ts'
import { resultText } from '../../calls/result-text.ts'
import {
  type Attributes,
  CALL_EVENTS,
  CallSpans,
  commonAttributes,
  isCallEvent,
  type RunSpans,
  type Span,
  type SpanEvent,
  type SpanEventOf,
  spanError,
} from '../../calls/telemetry.ts'
import type { Traced } from '../../calls/trace.ts'
import { toolCallId } from '../../log/ids.ts'
import { spanIdOf, traceIdOf } from '../../log/trace-ids.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'

// The spans of one of keepup's own agents, from its events (domain/calls/telemetry.ts).

type Event = SpanEventOf<Traced<AgentEvent>>
type Of<T extends AgentEvent['type']> = SpanEventOf<Traced<EventOf<T>>>

/** An agent that this one started. */
export interface SpannedChild {
  readonly agentId: string
  readonly isExternal: boolean
  readonly toolCallId: string
}

/** A message in the form of the conventions. */
interface Message {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly parts: readonly object[]
}

interface Billed {
  readonly usage: Usage
  readonly nanoDollars: number | null
}

/** The types of events that spans come from; the texts of some of them only with content. */
export const spanTypes = (content: boolean): readonly AgentEvent['type'][] => [
  ...(['agent_started', 'forked', 'child_delegated', 'model_call_start', 'model_call_end', 'model_held'] as const),
  ...(['model_attempt_lost', 'model_late', 'summary_failed', 'error', 'completion', 'gate_checked'] as const),
  ...CALL_EVENTS,
  ...(content ? (['turn_start', 'prompt_set', 'user_input', 'message_received'] as const) : []),
]

const NOTHING: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/**
 * The spans of one agent. {@link add} gives the spans of model calls and tool calls when they end, {@link end} the span
 * of the agent, which is their parent. Events that a fork inherits give no spans: they are in the trace of its source.
 */
export class AgentSpans {
  readonly children: SpannedChild[] = []
  readonly #run: RunSpans
  readonly #stream: string
  readonly #calls: () => CallSpans
  #callSpans: CallSpans | null = null
  /** By call: its last span. Only calls that started an agent. */
  readonly #delegations = new Map<string, string | null>()
  #birth: Event | null = null
  /** Null: the agent has no event yet. */
  #spanId: string | null = null
  readonly #births = new Map<string, Event>()
  #spec: AgentSpec | null = null
  #last: Event | null = null
  #ended: Of<'completion'> | Of<'error'> | null = null
  #modelCall: Of<'model_call_start'> | null = null
  #provider: string | null = null
  #finish: string | null = null
  #spent: Billed = { usage: NOTHING, nanoDollars: null }
  /** By turn and attempt: estimates of attempts that were given up. */
  readonly #lost = new Map<string, Billed>()
  readonly #events: SpanEvent[] = []
  /** The answers with calls of the current turn, by revision. Only with content. */
  readonly #answers = new Map<number, readonly Block[]>()
  /** The messages since the last model call. Only with content. */
  #messages: Message[] = []
  /** The messages of {@link #shownTurn}, for each of its attempts. */
  #shown: readonly Message[] = []
  #shownTurn: number | null = null
  #system: string | null = null

  constructor(run: RunSpans, stream: string) {
    this.#run = run
    this.#stream = stream
    this.#calls = () => {
      this.#callSpans ??= new CallSpans(
        run,
        this.#spanId ?? '',
        ({ revision, block }) => this.#answers.get(revision)?.[block],
      )
      return this.#callSpans
    }
  }

  /** The span that a child belongs to: that of the call, or of the agent while the call is open. */
  parentOf({ toolCallId }: SpannedChild): string {
    return this.#delegations.get(toolCallId) ?? this.#spanId ?? ''
  }

  /** The spans that end with an event. */
  add(event: Event): readonly Span[] {
    if (event.revision === 0) this.#births.set(event.stream, event)
    this.#remember(event)
    if (event.stream !== this.#stream) return []
    if (this.#birth === null) {
      this.#birth = event
      this.#spanId = spanIdOf(event.id)
    }
    if (this.#ended === null) this.#last = event
    if (event.type === 'child_delegated') this.#delegated(event)
    if (isCallEvent(event)) {
      const span = this.#calls().add(event)
      const id = event.toolCallId ?? ''
      if (span !== null && this.#delegations.has(id)) this.#delegations.set(id, span.spanId)
      if (event.type === 'late_outcome') this.#note(event, 'keepup.late_outcome', { 'gen_ai.tool.call.id': id })
      return span === null ? [] : [span]
    }
    const span = this.#modelSpan(event)
    return span === null ? [] : [span]
  }

  /** The span of the agent: open, with the end of its last event, unless the agent has ended. */
  end(parentSpanId: string | null): Span | null {
    const [birth, last, spec] = [this.#birth, this.#last, this.#spec]
    if (birth === null || last === null) return null
    const run = this.#run
    const failed = this.#ended?.type === 'error' ? this.#ended.body.code : null
    const name = spec?.role?.name ?? 'keepup'
    const { usage, nanoDollars } = this.#spent
    const isRoot = birth.agentId === run.runId
    return {
      ...{ traceId: run.traceId, spanId: this.#spanId!, parentSpanId },
      name: `invoke_agent ${name}`,
      kind: 'internal',
      start: birth.at,
      end: (this.#ended ?? last).at,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': this.#provider ?? this.#providerOf(spec?.models.requested ?? ''),
        'gen_ai.agent.id': birth.agentId,
        'gen_ai.agent.name': name,
        ...(run.content && spec?.role && { 'gen_ai.agent.description': spec.role.goal }),
        'gen_ai.conversation.id': run.runId,
        ...(spec !== null && { 'gen_ai.request.model': spec.models.requested }),
        ...usageAttributes(usage),
        ...(this.#finish !== null && { 'gen_ai.response.finish_reasons': [this.#finish] }),
        'openinference.span.kind': 'AGENT',
        ...(failed !== null && { 'error.type': failed }),
        ...commonAttributes(run, birth),
        ...(nanoDollars !== null && { 'keepup.cost.nano_dollars': nanoDollars }),
        ...(this.#ended === null && { 'keepup.open': true }),
        ...(birth.type === 'forked' && { 'keepup.fork_of': `${birth.body.stream}@${birth.body.revision}` }),
      },
      events: this.#events,
      links: [...(isRoot && run.link !== null ? [run.link] : []), ...this.#source(birth)],
      error: failed === null ? null : spanError(run, failed, this.#errorText()),
    }
  }

  #errorText(): string | undefined {
    const ended = this.#ended
    return ended?.type === 'error' && !ended.erased ? ended.body.error : undefined
  }

  /** The span of the agent that a fork continues. */
  *#source(birth: Event): Generator<Span['links'][number]> {
    const source = birth.type === 'forked' ? this.#births.get(birth.body.stream) : undefined
    if (source !== undefined) yield { traceId: traceIdOf(source.runId), spanId: spanIdOf(source.id) }
  }

  #providerOf(model: string): string {
    const known = this.#spec?.models.known ?? []
    return (known.find(({ id }) => id === model) ?? known[0])?.provider ?? 'keepup'
  }

  #delegated({ body, toolCallId = '' }: Of<'child_delegated'>): void {
    this.#delegations.set(toolCallId, null)
    this.children.push({ agentId: body.childId, isExternal: body.backend !== undefined, toolCallId })
  }

  #note({ at }: Event, name: string, attributes: Attributes): void {
    this.#events.push({ name, at, attributes })
  }

  /** The context of later spans, also from inherited events. */
  #remember(event: Event): void {
    if (event.type === 'agent_started') this.#spec = event.body.spec
    if (!this.#run.content) return
    if (event.type === 'turn_start') this.#answers.clear()
    if (event.erased) return
    switch (event.type) {
      case 'prompt_set':
        this.#system = event.body.system
        return
      case 'user_input':
      case 'message_received':
        this.#messages.push({ role: 'user', parts: [{ type: 'text', content: event.body.text }] })
        return
      case 'model_call_end':
        if (event.body.calls.length > 0) this.#answers.set(event.revision, event.body.content)
        return
      case 'tool_call_end': {
        const { success, result, error } = event.body
        const text = success ? resultText(result ?? null) : `${error?.code}: ${error?.message}`
        const part = { type: 'tool_call_response', id: event.toolCallId ?? '', result: text }
        this.#messages.push({ role: 'tool', parts: [part] })
        return
      }
      default:
    }
  }

  #modelSpan(event: Event): Span | null {
    switch (event.type) {
      case 'model_call_start':
        this.#modelCall = event
        if (event.body.purpose !== 'turn') return null
        this.#shown = [...(this.#shownTurn === event.turn ? this.#shown : []), ...this.#messages]
        this.#shownTurn = event.turn
        this.#messages = []
        return null
      case 'model_call_end':
        this.#spend(event.body, 1)
        this.#finish = event.body.stopReason
        return this.#endModelCall(event, null, this.#answerAttributes(event))
      case 'model_held':
        // The attempt was not sent.
        this.#modelCall = null
        return null
      case 'model_attempt_lost': {
        const { attempt } = event.body
        this.#lost.set(`${event.turn}/${attempt}`, event.body)
        this.#spend(event.body, 1)
        const lost = { ...costAttributes(event.body), 'keepup.usage_estimated': true }
        return this.#endModelCall(event, spanError(this.#run, 'DRIVER_LOST'), lost)
      }
      case 'model_late': {
        const key = `${event.turn}/${event.body.attempt}`
        const estimate = this.#lost.get(key)
        if (estimate !== undefined) this.#spend(estimate, -1)
        this.#lost.delete(key)
        this.#spend(event.body, 1)
        this.#note(event, 'keepup.late_answer', {
          ...costAttributes(event.body),
          'gen_ai.response.model': event.body.servedBy,
        })
        return null
      }
      case 'summary_failed': {
        const { code, message } = event.body.error
        return this.#endModelCall(event, spanError(this.#run, code, event.erased ? undefined : message))
      }
      case 'error': {
        const { code, error, attempt, recoverable } = event.body
        if (!recoverable) this.#ended ??= event
        if (attempt === undefined) return null
        return this.#endModelCall(event, spanError(this.#run, code, event.erased ? undefined : error))
      }
      case 'completion':
        this.#ended ??= event
        return null
      case 'gate_checked': {
        const { gate, passed, evidence } = event.body
        this.#note(event, 'gen_ai.evaluation.result', {
          'gen_ai.evaluation.name': gate,
          'gen_ai.evaluation.score.label': passed ? 'pass' : 'fail',
          ...(this.#run.content && !event.erased && { 'gen_ai.evaluation.explanation': evidence }),
        })
        return null
      }
      default:
        return null
    }
  }

  #spend({ usage, nanoDollars }: Billed, sign: 1 | -1): void {
    const { usage: u, nanoDollars: n } = this.#spent
    this.#spent = {
      usage: {
        input: u.input + sign * usage.input,
        output: u.output + sign * usage.output,
        cacheRead: u.cacheRead + sign * usage.cacheRead,
        cacheWrite: u.cacheWrite + sign * usage.cacheWrite,
      },
      nanoDollars: nanoDollars === null ? n : (n ?? 0) + sign * nanoDollars,
    }
  }

  #answerAttributes(event: Of<'model_call_end'>): Attributes {
    const { servedBy, requestId, stopReason, cached, reused } = event.body
    const shown = this.#run.content && !event.erased
    return {
      ...(requestId !== undefined && { 'gen_ai.response.id': requestId }),
      'gen_ai.response.model': servedBy,
      'gen_ai.response.finish_reasons': [stopReason],
      ...costAttributes(event.body),
      ...(cached !== undefined && { 'keepup.cached': true }),
      ...(reused !== undefined && { 'keepup.reused': true }),
      ...(shown && { 'gen_ai.output.messages': JSON.stringify([answerMessage(event)]) }),
    }
  }

  #endModelCall(event: Event, error: Span['error'], more: Attributes = {}): Span | null {
    const start = this.#modelCall
    this.#modelCall = null
    if (start === null) return null
    const run = this.#run
    const { model, attempt, purpose, estimate } = start.body
    this.#provider = this.#providerOf(model)
    const isTurn = purpose === 'turn'
    const system = run.content && isTurn ? this.#system : null
    if (isTurn) this.#system = null
    return {
      ...{ traceId: run.traceId, spanId: spanIdOf(start.id), parentSpanId: this.#spanId },
      name: `chat ${model}`,
      kind: 'client',
      ...{ start: start.at, end: Math.max(start.at, event.at) },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': this.#provider,
        'gen_ai.request.model': model,
        'gen_ai.request.max_tokens': estimate.maxOutput,
        'gen_ai.conversation.id': run.runId,
        'gen_ai.agent.id': start.agentId,
        ...more,
        ...(system !== null && { 'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: system }]) }),
        ...(run.content && isTurn && { 'gen_ai.input.messages': JSON.stringify(this.#shown) }),
        'openinference.span.kind': 'LLM',
        ...(error !== null && { 'error.type': error.code }),
        ...commonAttributes(run, start),
        'keepup.turn': start.turn,
        'keepup.attempt': attempt,
        ...(!isTurn && { 'keepup.purpose': purpose }),
      },
      ...{ events: [], links: [], error },
    }
  }
}

/** Input tokens include cached ones, as the conventions say. The name of tokens that a cache took has changed. */
export const usageAttributes = (usage: Usage): Attributes => ({
  'gen_ai.usage.input_tokens': inputOf(usage),
  'gen_ai.usage.output_tokens': usage.output,
  'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
  'gen_ai.usage.cache_write.input_tokens': usage.cacheWrite,
  'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite,
})

/** Readers add up the cost of all spans, so only model calls have the names of other products. */
const costAttributes = ({ usage, nanoDollars }: Billed): Attributes => ({
  ...usageAttributes(usage),
  ...(nanoDollars !== null && {
    'keepup.cost.nano_dollars': nanoDollars,
    'gen_ai.usage.cost': { double: nanoDollars / 1e9 },
    'llm.cost.total': { double: nanoDollars / 1e9 },
  }),
})

/** An answer in the form of the conventions. Calls have keepup's ids, as the spans of the calls do. */
function answerMessage({ body: { content, calls }, agentId, turn }: Of<'model_call_end'>): Message {
  const parts = content.flatMap((block, index): object[] => {
    if (block.type === 'text') return [{ type: 'text', content: block.text }]
    if (block.type === 'thinking') return [{ type: 'reasoning', content: block.thinking }]
    if (block.type !== 'tool_use') return []
    const planned = calls.findIndex((call) => call.block === index)
    const id = planned < 0 ? block.id : toolCallId(agentId, turn, planned)
    return [{ type: 'tool_call', id, name: block.name, arguments: callArguments(block) }]
  })
  return { role: 'assistant', parts }
}
