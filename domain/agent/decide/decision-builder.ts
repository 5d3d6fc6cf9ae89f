import type { Call } from '../../calls/call.ts'
import type { CallDecision } from '../../calls/decide/decision.ts'
import { obligationKey } from '../../courier/ledger.ts'
import { canonicalText } from '../../log/canonical.ts'
import type { Actor } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { agentStream } from '../../log/ids.ts'
import { saltBody } from '../../log/seal.ts'
import { wellFormed } from '../../log/well-formed.ts'
import type { Draft as StreamDraft } from '../../stream/aggregate.ts'
import { bodyFault } from '../events/codec.ts'
import type { AgentEvent, BodyOf, EventType } from '../events/events.ts'
import { evolveAgent } from '../state/evolve.ts'
import { type AgentState, activityOf, callsOf, turnIsOpen } from '../state/state.ts'
import type { Transcript } from '../state/transcript.ts'
import type { DecisionContext } from './decision-context.ts'

const utf8 = new TextEncoder()

export type AgentDraft = StreamDraft<AgentState, AgentEvent>

const PEOPLE: ReadonlySet<Actor['kind']> = new Set(['user', 'approver'])
/** Events that people cause directly. Events that follow from them are attributed to the runtime. */
const PERSON_EVENTS: ReadonlySet<EventType> = new Set<EventType>([
  'agent_started',
  'forked',
  'user_input',
  'message_received',
  'message_distributed',
  'paused',
  'resumed',
  'step_requested',
  'request_noted',
  'cancel_requested',
  'approval_supported',
  'approval_decided',
  'permission_revoked',
  'standing_approval',
  'tool_call_resolved',
  'loss_accepted',
  'lost_call_decided',
  'loss_released',
  'context_expanded',
  'restore_requested',
  'residue',
  'erased',
])
const RUNTIME: Actor = { kind: 'system', id: 'runtime' }
const CHECKPOINTS: ReadonlySet<EventType> = new Set(['tool_call_end', 'turn_end'])

/**
 * A decision in progress. Each emitted event is folded at once, so that the next event builds on the state after it.
 */
export class DecisionBuilder implements CallDecision {
  readonly context: DecisionContext
  readonly drafts: AgentDraft[] = []
  private current: AgentState | null
  private readonly identity: { readonly agentId: string; readonly runId: string }
  private readonly transcript: Transcript | null
  private revision: number

  constructor(
    state: AgentState | null,
    identity: { agentId: string; runId: string; revision: number },
    context: DecisionContext,
  ) {
    this.current = state
    this.identity = identity
    this.revision = identity.revision
    this.context = context
    this.transcript = context.transcript?.() ?? null
  }

  /** The messages as the model reads them. Throws if the context has no transcript. */
  get told(): Transcript {
    if (this.transcript === null) throw new Error('a context is compressed where the messages are known')
    return this.transcript
  }

  /** The root of the messages as the model reads them. Throws if the context has no transcript. */
  get rendered(): string {
    if (this.transcript === null) throw new Error('a model call is decided where the messages are known')
    return this.transcript.rendered.hash
  }

  get agentId(): string {
    return this.identity.agentId
  }

  get state(): AgentState {
    if (this.current === null) throw new Error('nothing has been decided yet')
    return this.current
  }

  get caller(): AgentState {
    return this.state
  }

  get calls(): readonly Call[] {
    return callsOf(this.state)
  }

  /** Whether the deciding driver owns the agent. Only then may it start anything. */
  get drives(): boolean {
    const { driver } = this.context
    if (driver === undefined || driver.rests) return false
    return this.current?.driver?.epoch === driver.epoch && this.current.driver.id === driver.id
  }

  emit<T extends EventType>(
    type: T,
    given: BodyOf<T>,
    about: { toolCallId?: string; turn?: number; actor?: Actor; cause?: number } = {},
  ): void {
    const { context } = this
    const text = storedText(given)
    // Fold and model see the stored form: members in the same order, without members that JSON drops.
    const body = JSON.parse(text) as BodyOf<T>
    const salted = saltBody(utf8.encode(text), context.salt(), body)
    const fault = bodyFault(type, body)
    if (fault !== null)
      throw new LogError('APPEND_INVALID', `${type} is not of its shape, so nothing was recorded: ${fault}`)
    const asked = about.actor ?? context.by
    const actor = PEOPLE.has(asked.kind) && !PERSON_EVENTS.has(type) ? RUNTIME : asked
    // Recorded for people's events too; views show those in turn 0.
    const turn = about.turn ?? (this.current && turnIsOpen(this.current) ? this.current.turn : 0)
    const claim = type === 'driver_claimed' ? (body as BodyOf<'driver_claimed'>) : null
    const owner = context.driver && { id: context.driver.id, epoch: context.driver.epoch }
    const driver = claim ? { id: claim.driverId, epoch: claim.epoch } : owner
    const byPerson = PEOPLE.has(actor.kind)
    // A child's task belongs to the request that started its parent's work.
    const isTask = type === 'user_input' && actor.kind === 'courier'
    const origin = 'origin' in body && body.origin !== undefined ? body.origin : null
    const cause = about.cause ?? this.causeOf(type, about.toolCallId, byPerson)
    const causationId =
      origin !== null ? obligationKey(origin) : cause === null ? null : `${agentStream(this.identity.agentId)}@${cause}`
    this.revision++
    const decided = {
      type,
      body,
      revision: this.revision,
      at: context.now,
      turn,
      agentId: this.identity.agentId,
      runId: this.identity.runId,
      commandId: context.commandId,
      actor,
      bodyHash: salted.header.hash,
      size: salted.header.size,
      ...(about.toolCallId === undefined ? {} : { toolCallId: about.toolCallId }),
      ...(causationId === null ? {} : { causationId }),
      ...((byPerson || isTask || origin !== null) && context.correlationId !== undefined
        ? { correlationId: context.correlationId }
        : {}),
      ...(driver === undefined || byPerson ? {} : { driver }),
    } as AgentEvent
    const after = evolveAgent(this.current, decided)
    // A turn's events belong to the input that the turn reads, which is known only after the turn start.
    const inherited = !byPerson && after.correlation !== context.commandId
    const event = inherited ? { ...decided, correlationId: after.correlation } : decided
    this.current = after
    this.transcript?.push(event)
    this.drafts.push({ event, body: salted, after, checkpoint: CHECKPOINTS.has(type) })
  }

  /**
   * Revision of the causing event; null: none. An event about a call or a model attempt follows from the last event
   * about it. Other events of the agent follow from the last event with consequences. Within one append the order is
   * enough.
   */
  private causeOf(type: EventType, toolCallId: string | undefined, byPerson: boolean): number | null {
    if (this.current === null) return null
    const since = toolCallId === undefined ? this.causeInTurn(type, byPerson) : this.causeOfCall(toolCallId)
    return since === null || (since === this.revision && this.drafts.length > 0) ? null : since
  }

  private causeOfCall(toolCallId: string): number | null {
    return callsOf(this.state).find((call) => call.id === toolCallId)?.since ?? null
  }

  private causeInTurn(type: EventType, byPerson: boolean): number | null {
    const activity = activityOf(this.state.machine)
    const model = activity?.status === 'THINKING' && 'since' in activity.model ? activity.model : null
    if (model !== null && (type.startsWith('model_') || type === 'error')) return model.since
    const { summarizing } = this.state.compression
    if (summarizing !== null && OF_A_SUMMARY.has(type)) return summarizing.since
    // Requests from outside, and later events of the same append, have no earlier cause.
    return byPerson || FROM_OUTSIDE.has(type) || this.drafts.length > 0 ? null : this.state.follows
  }
}

const OF_A_SUMMARY: ReadonlySet<EventType> = new Set<EventType>([
  'model_call_end',
  'model_attempt_lost',
  'summary_failed',
])

const FROM_OUTSIDE: ReadonlySet<EventType> = new Set<EventType>([
  'forked',
  'driver_claimed',
  'workspace_drifted',
  'delivered',
])

/** The canonical, well-formed text of a body. Nearly every body is already well formed. */
function storedText(body: object): string {
  try {
    const text = canonicalText(body)
    if (!text.includes(ESCAPED_NUL)) return text
  } catch {
    // `wellFormed` repairs lone surrogates. For other values that are not JSON, canonicalText throws again below.
  }
  return canonicalText(wellFormed(body))
}

const ESCAPED_NUL = String.raw`\u0000`
