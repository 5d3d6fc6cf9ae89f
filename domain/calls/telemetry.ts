import { parseTraceParent, spanIdOf, traceIdOf } from '../log/trace-ids.ts'
import type { Block } from './content.ts'
import type { Decided } from './decided.ts'
import type { ArgumentsRef } from './events/event-parts.ts'
import type { CallBodies, CallEventType } from './events/events.ts'
import { callArguments } from './requested-calls.ts'
import { resultText } from './result-text.ts'
import type { AnyTraced } from './trace.ts'

// Spans of OpenTelemetry, derived from events. The names are those of the GenAI semantic conventions
// (github.com/open-telemetry/semantic-conventions-genai); names with `keepup.` are our own.

/** A number that is written as a double, also if it is whole. */
export interface Double {
  readonly double: number
}

export type AttributeValue = string | number | boolean | Double | readonly string[]
export type Attributes = Readonly<Record<string, AttributeValue>>

export interface SpanEvent {
  readonly name: string
  /** In ms since the epoch. */
  readonly at: number
  readonly attributes: Attributes
}

/** A span. Ids are lower-case hex; times are ms since the epoch. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Null: the span is the root of its trace. */
  readonly parentSpanId: string | null
  readonly name: string
  readonly kind: 'internal' | 'client'
  readonly start: number
  /** Never before `start`. */
  readonly end: number
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  /** Spans of other traces. */
  readonly links: readonly Pick<Span, 'traceId' | 'spanId'>[]
  /** Null: the operation did not fail. `message` only with content. */
  readonly error: { readonly code: string; readonly message?: string } | null
}

/** The members that all spans of a run share. */
export interface RunSpans {
  readonly runId: string
  readonly traceId: string
  /** The span of the caller that is the parent of the run; null: none. */
  readonly parentSpanId: string | null
  /** The caller's span that the run links to. */
  readonly link: Pick<Span, 'traceId' | 'spanId'> | null
  /** The person who started the run. */
  readonly user: string | null
  /** Whether spans contain texts of people, models and tools. */
  readonly content: boolean
}

export interface SpanOptions {
  readonly content: boolean
  /** The spans join the trace of the request that started the run, if it named one. Otherwise they link to it. */
  readonly adopt: boolean
}

/** `first`: the header of the first event of the run's root agent. */
export function runSpans(
  runId: string,
  first: Pick<AnyTraced, 'actor'> & { readonly trace?: string | undefined },
  { content, adopt }: SpanOptions,
): RunSpans {
  const caller = first.trace === undefined ? null : parseTraceParent(first.trace)
  const user = first.actor.kind === 'user' ? first.actor.id : null
  if (caller !== null && adopt)
    return { runId, traceId: caller.traceId, parentSpanId: caller.spanId, link: null, user, content }
  const link = caller && { traceId: caller.traceId, spanId: caller.spanId }
  return { runId, traceId: traceIdOf(runId), parentSpanId: null, link, user, content }
}

/** An event with its id, as spans read it. */
export type SpanEventOf<Event> = Event & { readonly id: string }

type CallEvent = {
  readonly [T in CallEventType]: SpanEventOf<AnyTraced> & { readonly type: T; readonly body: CallBodies[T] }
}[CallEventType]
type CallEventOf<T extends CallEventType> = Extract<CallEvent, { readonly type: T }>

/** An event of a call. Any other event gives no span of a call. */
export const isCallEvent = (event: { readonly type: string }): event is CallEvent =>
  (CALL_EVENTS as readonly string[]).includes(event.type)

export const CALL_EVENTS: readonly CallEventType[] = [
  ...(['tool_call_start', 'tool_call_intent', 'tool_call_retry', 'tool_call_unknown', 'tool_call_resolved'] as const),
  ...(['tool_call_end', 'late_outcome', 'approval_requested', 'approval_supported', 'approval_decided'] as const),
  ...(['approval_expired', 'approval_voided', 'standing_approval'] as const),
]

interface Begun {
  readonly id: string
  readonly revision: number
  readonly at: number
  readonly attempt: number
}

interface Open {
  readonly start: CallEventOf<'tool_call_start'>
  /** The running attempt; null: none runs. */
  begun: Begun | null
  /** The event that begins the span of a call without an attempt: the start, or a person's decision to run it again. */
  origin: Begun
  /** When the outcome became unknown. */
  unknownAt: number | null
  supporters: readonly string[]
  attributes: Attributes
}

const MEMORY_OPERATIONS: Readonly<Record<string, string>> = {
  remember: 'create_memory',
  recall: 'search_memory',
  forget: 'delete_memory',
}

/** Attributes of every span. `event`: the event that begins the span. */
export const commonAttributes = (
  { runId, user }: RunSpans,
  { id, stream, revision }: { readonly id: string; readonly stream: string; readonly revision: number },
): Attributes => ({
  'session.id': runId,
  ...(user !== null && { 'user.id': user }),
  'keepup.event_id': id,
  'keepup.stream': stream,
  'keepup.revision': revision,
})

/** The failure of an operation, for a span. */
export const spanError = (run: RunSpans, code: string, message?: string): NonNullable<Span['error']> => ({
  code,
  ...(run.content && message !== undefined && message !== '' && { message }),
})

/** The spans of one agent's calls, one for each attempt. Memory: open calls only. */
export class CallSpans {
  readonly #run: RunSpans
  readonly #parentSpanId: string
  readonly #block: (ref: ArgumentsRef) => Block | undefined
  readonly #open = new Map<string, Open>()
  /** By pattern: who gave a standing approval. */
  readonly #standing = new Map<string, string>()
  /** By call: who approved it. */
  readonly #approvers = new Map<string, string>()

  /** `block`: the block of the model's answer with a call's arguments; undefined: erased, or not read. */
  constructor(run: RunSpans, parentSpanId: string, block: (ref: ArgumentsRef) => Block | undefined) {
    this.#run = run
    this.#parentSpanId = parentSpanId
    this.#block = block
  }

  /** The span that ends with an event. Null: none does. */
  add(event: CallEvent): Span | null {
    if (event.type === 'standing_approval') {
      for (const pattern of event.body.tools) this.#standing.set(pattern, event.actor.id)
      return null
    }
    if (event.type === 'tool_call_start') {
      this.#begin(event)
      return null
    }
    const id = event.toolCallId ?? ''
    const call = this.#open.get(id)
    if (call === undefined) return null
    switch (event.type) {
      case 'approval_supported':
        call.supporters = [...call.supporters, event.actor.id]
        return null
      case 'approval_decided':
        this.#decided(call, event.body.decision, event.body.decided, event.actor.id)
        return null
      case 'approval_expired':
        call.attributes = { ...call.attributes, 'keepup.approval.decision': 'expired' }
        return null
      case 'approval_voided':
        call.begun = null
        call.supporters = []
        call.attributes = {}
        return null
      case 'tool_call_intent':
        call.begun = begunBy(event, event.at)
        return null
      case 'tool_call_retry': {
        const { code, message } = event.body.error
        const ended = this.#span(call, event.at, spanError(this.#run, code, event.erased ? undefined : message))
        call.begun = begunBy(event, event.at + event.body.delayMs)
        return ended
      }
      case 'tool_call_unknown':
        call.unknownAt = event.at
        return null
      case 'tool_call_resolved':
        return this.#resolved(call, event)
      case 'tool_call_end':
        this.#open.delete(id)
        return this.#ended(call, event)
      default:
        return null
    }
  }

  #begin(event: CallEventOf<'tool_call_start'>): void {
    const { intent, decided } = event.body
    const origin = begunBy(event, event.at)
    const call: Open = {
      start: event,
      begun: intent ? origin : null,
      origin,
      unknownAt: null,
      supporters: [],
      attributes: {},
    }
    this.#open.set(event.toolCallId ?? '', call)
    if (decided !== undefined) this.#decided(call, null, decided, this.#giver(decided))
  }

  /** The person who gave the rule that allowed a call; null: no person did. */
  #giver({ method, rule = '' }: Decided): string | null {
    if (method === 'standing_approval') return this.#standing.get(rule) ?? null
    return method === 'permission' ? (this.#approvers.get(rule) ?? null) : null
  }

  #decided(call: Open, decision: string | null, { method, rule }: Decided, by: string | null): void {
    const people = [...call.supporters, ...(by === null ? [] : [by])]
    if (by !== null) this.#approvers.set(call.start.toolCallId ?? '', people.join(', '))
    call.attributes = {
      ...call.attributes,
      'keepup.approval.method': method,
      ...(people.length > 0 && { 'keepup.approval.by': people.join(', ') }),
      ...(decision !== null && { 'keepup.approval.decision': decision }),
      ...(rule !== undefined && { 'keepup.rule': rule }),
    }
  }

  #resolved(call: Open, event: CallEventOf<'tool_call_resolved'>): Span | null {
    const { decision } = event.body
    const isAgain = decision === 'run'
    const ended = isAgain ? this.#span(call, call.unknownAt ?? event.at, spanError(this.#run, 'UNKNOWN_OUTCOME')) : null
    const by = { 'keepup.approval.method': 'person', 'keepup.approval.by': event.actor.id }
    call.attributes = { ...call.attributes, ...by, 'keepup.approval.decision': decision }
    if (isAgain) {
      const { attempt } = call.begun ?? call.origin
      call.origin = { id: event.id, revision: event.revision, at: event.at, attempt }
      call.begun = null
      call.unknownAt = null
    }
    return ended
  }

  #ended(call: Open, event: CallEventOf<'tool_call_end'>): Span {
    const { success, error, result, reused } = event.body
    const shown = this.#run.content && !event.erased && success
    return this.#span(
      call,
      call.unknownAt ?? event.at,
      success ? null : spanError(this.#run, error?.code ?? 'FAILED', event.erased ? undefined : error?.message),
      {
        ...(shown && { 'gen_ai.tool.call.result': resultText(result ?? null) }),
        ...(reused !== undefined && { 'keepup.reused': `${reused.stream}@${reused.revision}` }),
        ...(call.unknownAt !== null && { 'keepup.outcome_unknown': true }),
        ...(call.begun === null && { 'keepup.ran': false }),
      },
    )
  }

  #span(call: Open, endedAt: number, error: Span['error'], more: Attributes = {}): Span {
    const run = this.#run
    const { start } = call
    const { toolName } = start.body
    const begun = call.begun ?? call.origin
    const memory = MEMORY_OPERATIONS[toolName]
    const operation = memory ?? 'execute_tool'
    const isMcp = toolName.includes(':')
    const args = run.content ? this.#block(start.body.argumentsRef) : undefined
    const given = args === undefined ? null : callArguments(args)
    const { id, revision } = begun
    return {
      ...{ traceId: run.traceId, spanId: spanIdOf(id), parentSpanId: this.#parentSpanId },
      name: memory ?? `execute_tool ${toolName}`,
      kind: 'internal',
      start: Math.min(begun.at, endedAt),
      end: endedAt,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.tool.name': toolName,
        'gen_ai.tool.call.id': start.toolCallId ?? '',
        'gen_ai.tool.type': isMcp ? 'extension' : 'function',
        'openinference.span.kind': toolName === 'recall' ? 'RETRIEVER' : 'TOOL',
        ...(isMcp && { 'mcp.method.name': 'tools/call' }),
        ...(given !== null && { 'gen_ai.tool.call.arguments': JSON.stringify(given) }),
        ...(error !== null && { 'error.type': error.code }),
        ...commonAttributes(run, { id, stream: start.stream, revision }),
        'keepup.attempt': begun.attempt,
        ...call.attributes,
        ...more,
      },
      events: [],
      links: [],
      error,
    }
  }
}

const begunBy = (
  { id, revision, body }: CallEventOf<'tool_call_start' | 'tool_call_intent' | 'tool_call_retry'>,
  at: number,
): Begun => ({ id, revision, at, attempt: body.attempt })
