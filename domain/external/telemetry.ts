import type { Block } from '../calls/content.ts'
import {
  type Attributes,
  CallSpans,
  commonAttributes,
  isCallEvent,
  type RunSpans,
  type Span,
  type SpanEvent,
  type SpanEventOf,
  spanError,
} from '../calls/telemetry.ts'
import type { Traced } from '../calls/trace.ts'
import type { Json, JsonObject } from '../log/json.ts'
import { spanIdOf } from '../log/trace-ids.ts'
import type { ExternalEvent } from './events.ts'
import type { Outcome } from './outcome.ts'
import { type RecordedSpan, recordedSpans, reportedSpans } from './reported/telemetry.ts'
import type { ReportedUsage } from './usage.ts'

// The spans of an external agent, from its events (domain/calls/telemetry.ts).

type Event = SpanEventOf<Traced<ExternalEvent>>
type Of<T extends ExternalEvent['type']> = Extract<Event, { readonly type: T }>

type StoredEvent = Of<'agent_events'>['body']['events'][number]

/** Agents may report a sentence in place of a name. Without content a span has a name of this form, or `tool`. */
const NAME = /^[\w.:-]{1,64}$/
/** The most calls of the agent's own tools that are open at a time. Older ones get no span. */
const MAX_OPEN = 1_000

/** A call of the agent's own tool, as it reported the call. */
interface ReportedCall {
  readonly spanId: string
  readonly event: Of<'agent_events'>
  readonly name: string
  readonly input: Json
}

/**
 * The spans of one external agent: {@link add} gives those of its calls when they end, {@link end} that of the agent. The
 * agent's own calls, which keepup does not govern, have `keepup.governed` false.
 */
export class ExternalSpans {
  readonly #run: RunSpans
  readonly #open = new Map<string, ReportedCall>()
  readonly #answers = new Map<number, Block>()
  readonly #events: SpanEvent[] = []
  #callSpans: CallSpans | null = null
  #birth: Of<'external_started'> | null = null
  /** Null: the agent has no event yet. */
  #spanId: string | null = null
  #last: Event | null = null
  #end: { readonly at: number; readonly outcome: Outcome } | null = null
  #usage: ReportedUsage | null = null
  /** The spans of a run that was reported over OTLP: their parents may come later. */
  readonly #reportedSpans: RecordedSpan[] = []
  readonly #wrappers = new Set<number>()
  /** The times of such a run, µs. */
  #reportedTimes: Pick<Of<'spans_reported'>['body'], 'fromUs' | 'toUs'> | null = null

  constructor(run: RunSpans) {
    this.#run = run
  }

  /** The spans that end with an event. */
  add(event: Event): readonly Span[] {
    if (event.type === 'external_started') {
      this.#birth = event
      this.#spanId = spanIdOf(event.id)
    }
    if (this.#end === null) this.#last = event
    const placed = { ...event, turn: event.turn ?? 0 }
    if (isCallEvent(placed)) {
      this.#callSpans ??= new CallSpans(this.#run, this.#spanId ?? '', ({ revision }) => this.#answers.get(revision))
      const span = this.#callSpans.add(placed)
      if (span === null) return []
      if (placed.type === 'tool_call_end') this.#answers.clear()
      return [span]
    }
    switch (event.type) {
      case 'tool_call_requested':
        if (this.#run.content && !event.erased) this.#answers.set(event.revision, event.body.content[0])
        return []
      case 'agent_events':
        return event.body.events.flatMap((one, index) => this.#reported(event, one, index))
      case 'usage_reported':
        this.#usage = event.body
        return []
      case 'spans_reported':
        this.#reportedTimes = { fromUs: event.body.fromUs, toUs: event.body.toUs }
        this.#reportedSpans.push(...recordedSpans(event.body.spans, event))
        for (const n of event.body.wrappers ?? []) this.#wrappers.add(n)
        return []
      case 'permission_decided':
        this.#events.push({ name: 'keepup.permission', at: event.at, attributes: permissionAttributes(event) })
        return []
      case 'external_ended':
        this.#end = { at: event.at, outcome: event.body }
        return []
      case 'outcome_learned':
        this.#end = { at: this.#end?.at ?? event.at, outcome: event.body }
        return []
      default:
        return []
    }
  }

  /** The spans that were reported over OTLP. Call after the last event. */
  reported(): readonly Span[] {
    return reportedSpans(this.#run, this.#reportedSpans, this.#wrappers, this.#spanId)
  }

  /** The span of the agent: open, with the end of its last event, unless the agent has ended. */
  end(parentSpanId: string | null): Span | null {
    const [birth, last, run] = [this.#birth, this.#last, this.#run]
    if (birth === null || last === null) return null
    const end = this.#end
    const failed = end === null ? null : errorOf(end.outcome)
    const { backend } = birth.body
    const isRoot = birth.agentId === run.runId
    return {
      ...{ traceId: run.traceId, spanId: this.#spanId!, parentSpanId },
      name: `invoke_agent ${backend}`,
      kind: 'internal',
      ...this.#times(birth.at, (end ?? last).at),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': backend,
        'gen_ai.agent.id': birth.agentId,
        'gen_ai.agent.name': birth.body.parent?.role ?? backend,
        'gen_ai.conversation.id': run.runId,
        ...(this.#usage !== null && usageAttributes(this.#usage)),
        ...this.#texts(birth),
        'openinference.span.kind': 'AGENT',
        ...(failed !== null && { 'error.type': failed.code }),
        ...commonAttributes(run, birth),
        'keepup.governed': false,
        ...(end === null && { 'keepup.open': true }),
      },
      events: this.#events,
      links: isRoot && run.link !== null ? [run.link] : [],
      error: failed === null ? null : spanError(run, failed.code, birth.erased ? undefined : failed.message),
    }
  }

  /** In ms. The times of a reported run are those of its spans. */
  #times(start: number, end: number): Pick<Span, 'start' | 'end'> {
    const times = this.#reportedTimes
    if (times === null) return { start, end }
    const [from, to] = [times.fromUs, times.toUs ?? times.fromUs].map((us) => Math.floor(us / 1_000)) as [
      number,
      number,
    ]
    return { start: from, end: Math.max(from, to) }
  }

  /** The prompt and the last text of the agent. */
  #texts(birth: Of<'external_started'>): Attributes {
    if (!this.#run.content || birth.erased) return {}
    const message = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
    const outcome = this.#end?.outcome
    const said = outcome?.outcome === 'exited' ? outcome.finalText : null
    return {
      'gen_ai.input.messages': message('user', birth.body.request.prompt),
      ...(said !== null && { 'gen_ai.output.messages': message('assistant', said) }),
    }
  }

  #reported(event: Of<'agent_events'>, { kind, message, data }: StoredEvent, index: number): readonly Span[] {
    if (kind !== 'ToolCall' && kind !== 'ToolResult') return []
    const { id, input = null, success, output = null } = (data ?? {}) as JsonObject
    if (typeof id !== 'string' || id === '') return []
    if (kind === 'ToolCall') {
      if (this.#open.size >= MAX_OPEN) this.#open.delete(this.#open.keys().next().value!)
      const spanId = spanIdOf(`${event.id}#${index}`)
      const shown = this.#run.content ? !event.erased : NAME.test(message ?? '')
      this.#open.set(id, { spanId, event, name: (shown && message) || 'tool', input })
      return []
    }
    const call = this.#open.get(id)
    this.#open.delete(id)
    return call === undefined ? [] : [this.#reportedSpan(call, id, event, success !== false, output)]
  }

  #reportedSpan(call: ReportedCall, id: string, ended: Event, success: boolean, output: Json): Span {
    const { spanId, event, name, input } = call
    const run = this.#run
    return {
      ...{ traceId: run.traceId, spanId, parentSpanId: this.#spanId },
      name: `execute_tool ${name}`,
      kind: 'internal',
      ...{ start: event.at, end: ended.at },
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': id,
        'gen_ai.tool.type': 'function',
        'openinference.span.kind': 'TOOL',
        ...(run.content && !event.erased && { 'gen_ai.tool.call.arguments': JSON.stringify(input) }),
        ...(run.content && !ended.erased && { 'gen_ai.tool.call.result': textOf(output) }),
        ...(!success && { 'error.type': 'tool_error' }),
        ...commonAttributes(run, event),
        'keepup.governed': false,
      },
      ...{ events: [], links: [], error: success ? null : { code: 'tool_error' } },
    }
  }
}

const textOf = (output: Json): string => (typeof output === 'string' ? output : JSON.stringify(output))

/**
 * Figures with the scope of a session include earlier runs, so they are left out. A backend counts cached tokens as a
 * part of the input tokens.
 */
function usageAttributes({ cost, model, scope, ...tokens }: ReportedUsage): Attributes {
  const { inputTokens = null, cachedInputTokens = null, outputTokens = null } = scope === 'run' ? tokens : {}
  return {
    ...(model !== undefined && { 'gen_ai.request.model': model, 'gen_ai.response.model': model }),
    ...(inputTokens !== null && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(cachedInputTokens !== null && { 'gen_ai.usage.cache_read.input_tokens': cachedInputTokens }),
    ...(outputTokens !== null && { 'gen_ai.usage.output_tokens': outputTokens }),
    ...(cost?.scope === 'run' && {
      'keepup.cost.nano_dollars': cost.nanoDollars,
      'gen_ai.usage.cost': { double: cost.nanoDollars / 1e9 },
      'llm.cost.total': { double: cost.nanoDollars / 1e9 },
    }),
  }
}

const permissionAttributes = ({ body, actor }: Of<'permission_decided'>): Attributes => ({
  'gen_ai.tool.call.id': body.toolCallId,
  'keepup.approval.by': actor.id,
  'keepup.approval.method': body.decided.method,
  'keepup.approval.decision': body.decision,
})

function errorOf(outcome: Outcome): { readonly code: string; readonly message?: string } | null {
  if (outcome.outcome === 'exited') return outcome.success ? null : { code: 'AGENT_FAILED' }
  if (outcome.outcome === 'failed') return { code: outcome.error.code, message: outcome.error.message }
  return { code: outcome.outcome === 'cancelled' ? 'CANCELLED' : 'UNKNOWN_OUTCOME' }
}
