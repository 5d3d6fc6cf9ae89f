import type { EventPlace } from '../../../log/body-parts.ts'
import type { RecordedEvent } from '../../../log/envelope.ts'
import { idOf } from '../../../log/owner.ts'
import type { ModelRequest } from '../../../ports/index.ts'
import type { Remembered } from '../../../stream/runtime/history.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import { yielder } from '../../../stream/runtime/yield-to-event-loop.ts'
import type { FailureOfRecord, RecordedOfCall } from '../../decide/reuse-commands.ts'
import type { AgentEvent, EventOf } from '../../events/events.ts'
import { evolveAgent } from '../../state/evolve.ts'
import { type AgentState, callsOf } from '../../state/state.ts'
import { Transcript } from '../../state/transcript.ts'
import { assemblerOf, requestInputs } from '../../window/request.ts'
import { history } from './history.ts'

// The record that a fork follows (seed 000, 5.9): the run's requests and outcomes after the fork point, in order.

export interface CallInRecord extends RecordedOfCall {
  readonly toolCallId: string
  readonly event: EventOf<'tool_call_end'> | EventOf<'tool_call_unknown'>
  readonly recorded: RecordedEvent
  /** The events of a control call's decision. */
  readonly parts: readonly AgentEvent[]
  /** The files after the call; null: unchanged. */
  readonly tree: string | null
}

export interface RecordedOutcome {
  readonly place: EventPlace
  /** Null: another version of the assembler made the request. */
  readonly request: ModelRequest | null
  readonly erased: boolean
  readonly outcome:
    | {
        readonly kind: 'answer'
        readonly event: EventOf<'model_call_end'>
        readonly calls: readonly (CallInRecord | null)[]
      }
    | { readonly kind: 'failure'; readonly event: EventOf<'error'>; readonly next: FailureOfRecord['next'] }
}

/**
 * The model outcomes in the history of a stream after the event with this hash, each with the outcomes of its calls.
 * Attempts that were lost, delayed or ended by a cancel are left out. Rejects like the stores.
 */
export async function* recordedOutcomes(
  stores: Stores,
  stream: string,
  after: string,
): AsyncGenerator<RecordedOutcome> {
  const transcript = new Transcript()
  let state: AgentState | null = null
  let reached = false
  let open: Open | null = null
  for await (const page of history(stores, idOf(stream))) {
    const yieldToEventLoop = yielder()
    for (const one of page) {
      await yieldToEventLoop()
      const { event, recorded } = one
      state = evolveAgent(state, event)
      transcript.push(event)
      if (reached) {
        if (event.type === 'cancel_requested') break
        const done = open?.take(one, state) ?? null
        if (done !== null) yield done
        if (done !== null || event.type === 'turn_start') open = null
        if (event.type === 'model_call_start') open = new Open(requestAt(state, event, transcript))
      }
      reached ||= recorded.hash === after
    }
    if (reached && state?.cancel) break
  }
  const last = open?.outcome() ?? null
  if (last !== null) yield last
}

function requestAt(
  state: AgentState,
  event: EventOf<'model_call_start'>,
  { messages }: Transcript,
): ModelRequest | null {
  const { purpose, model, estimate, request } = event.body
  const inputs = requestInputs(state, { purpose, model, maxOutputTokens: estimate.maxOutput })
  return assemblerOf(request.assembler)?.(inputs, messages) ?? null
}

const placeOf = ({ header: { stream, revision } }: RecordedEvent): EventPlace => ({ stream, revision })

type OpenCall = { -readonly [K in keyof CallInRecord]: CallInRecord[K] } & { step: number; owesFiles: boolean }

class Open {
  private readonly request: ModelRequest | null
  private answer: { event: EventOf<'model_call_end'>; recorded: RecordedEvent } | null = null
  private failure: { event: EventOf<'error'>; recorded: RecordedEvent; next: FailureOfRecord['next'] } | null = null
  private readonly calls = new Map<string, OpenCall>()
  private readonly parts = new Map<string, AgentEvent[]>()
  /** The id of the call that started a child, by child id. */
  private readonly parents = new Map<string, string>()

  constructor(request: ModelRequest | null) {
    this.request = request
  }

  /** Processes the next event. Returns the outcome once no later event can belong to it. */
  take({ event, recorded }: Remembered<AgentEvent>, state: AgentState): RecordedOutcome | null {
    switch (event.type) {
      case 'model_call_end':
        this.answer = { event, recorded }
        return null
      case 'error':
        return this.failed(event, recorded)
      case 'turn_start':
      case 'model_call_start':
      case 'forked':
        return this.outcome()
      case 'workspace_versioned':
        for (const call of this.calls.values()) {
          if (!call.owesFiles || call.step > event.body.step) continue
          call.tree = 'tree' in event.body ? event.body.tree : null
          call.owesFiles = call.tree === null
        }
        return null
      case 'tool_call_end':
      case 'tool_call_unknown':
        this.ended(event, recorded, state)
        return null
      case 'tool_call_resolved':
        this.calls.delete(event.toolCallId ?? '')
        return null
      case 'child_delegated':
        this.parents.set(event.body.childId, event.toolCallId ?? '')
        return null
      case 'child_artifact':
        this.partsOf(this.parents.get(event.body.childId)).push(event)
        return null
      default:
        this.partsOf(event.toolCallId).push(event)
        return null
    }
  }

  outcome(): RecordedOutcome | null {
    const { request, answer, failure } = this
    if (failure !== null) {
      const { event, recorded, next } = failure
      return {
        place: placeOf(recorded),
        request,
        erased: recorded.erased === true,
        outcome: { kind: 'failure', event, next },
      }
    }
    if (answer === null) return null
    const { event, recorded } = answer
    const calls = event.body.calls.map(({ refused }, index) => {
      const found = [...this.calls.values()].find(({ toolCallId }) => toolCallId.endsWith(`.t${event.turn}.c${index}`))
      // Files without a version cannot be restored.
      return found === undefined || refused !== undefined || found.owesFiles || found.recorded.erased ? null : found
    })
    return {
      place: placeOf(recorded),
      request,
      erased: recorded.erased === true,
      outcome: { kind: 'answer', event, calls },
    }
  }

  /** The events of a call so far. For an event without a call, an empty list that is discarded. */
  private partsOf(toolCallId: string | undefined): AgentEvent[] {
    const parts = (toolCallId !== undefined && this.parts.get(toolCallId)) || []
    if (toolCallId !== undefined) this.parts.set(toolCallId, parts)
    return parts
  }

  private failed(event: EventOf<'error'>, recorded: RecordedEvent): RecordedOutcome | null {
    if (event.body.recoverable) {
      const again = event.body.delayMs !== undefined
      this.failure = { event, recorded, next: again ? 'again' : 'turn' }
      return again ? this.outcome() : null
    }
    const { code, error } = event.body
    if (this.failure !== null && (code === 'MODEL_FAILED' || code === 'CONTEXT_OVERFLOW'))
      this.failure = { ...this.failure, next: { code, why: error } }
    return this.outcome()
  }

  private ended(event: CallInRecord['event'], recorded: RecordedEvent, state: AgentState): void {
    const call = callsOf(state).find(({ id }) => id === event.toolCallId)
    if (call === undefined) return
    const { id: toolCallId, toolName, argumentsHash, stage } = call
    const end = event.type === 'tool_call_end' ? event.body : null
    const refused = end !== null && stage.at === 'ended' && !stage.ran ? (end.error ?? null) : null
    this.calls.set(toolCallId, {
      ...{ toolCallId, toolName, argumentsHash, refused, event, recorded, place: placeOf(recorded), tree: null },
      parts: this.partsOf(toolCallId),
      step: end?.step ?? 0,
      owesFiles: end !== null && state.unversioned?.to === end.step,
    })
  }
}

/** Reads the record as far as the fork follows it, and keeps the last answer with its calls. */
export class RecordReader {
  private readonly open: () => AsyncGenerator<RecordedOutcome>
  private items: AsyncGenerator<RecordedOutcome> | null = null
  private last: RecordedOutcome | null = null
  private ahead: RecordedOutcome | null = null

  constructor(stores: Stores, stream: string, after: string) {
    this.open = () => recordedOutcomes(stores, stream, after)
  }

  /** The outcome at a place; null: the record has none there. */
  async at(place: EventPlace): Promise<RecordedOutcome | null> {
    await this.goTo(place)
    return this.last
  }

  /** The outcome after a place; `place` null: the first outcome. Null: the record has no more. */
  async following(place: EventPlace | null): Promise<RecordedOutcome | null> {
    await this.goTo(place)
    this.ahead ??= await this.next()
    return this.ahead
  }

  private async goTo(place: EventPlace | null): Promise<void> {
    if (this.items !== null && isAt(this.last, place)) return
    if (this.ahead !== null && isAt(this.ahead, place)) {
      this.last = this.ahead
      this.ahead = null
      return
    }
    this.items = this.open()
    this.last = null
    this.ahead = null
    while (!isAt(this.last, place)) {
      this.last = await this.next()
      if (this.last === null) return
    }
  }

  private async next(): Promise<RecordedOutcome | null> {
    const { value } = (await this.items?.next()) ?? {}
    return value ?? null
  }
}

const isAt = (one: RecordedOutcome | null, place: EventPlace | null): boolean =>
  one === null || place === null
    ? one === null && place === null
    : one.place.stream === place.stream && one.place.revision === place.revision
