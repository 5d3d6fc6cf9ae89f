import type { Call } from '../calls/call.ts'
import type { Caller } from '../calls/caller.ts'
import type { CallDecision } from '../calls/decide/decision.ts'
import { canonicalText } from '../log/canonical.ts'
import type { Actor } from '../log/envelope.ts'
import { LogError } from '../log/errors.ts'
import { hex } from '../log/ids.ts'
import { idOf } from '../log/owner.ts'
import { type SaltedBody, saltBody } from '../log/seal.ts'
import { wellFormed } from '../log/well-formed.ts'
import type { Decision, Draft, StreamPlace } from '../stream/aggregate.ts'
import { bodyFault } from './codec.ts'
import type { ExternalContext } from './commands.ts'
import type { ExternalBodyOf, ExternalEvent, ExternalEventType } from './events.ts'
import { evolveExternal } from './evolve.ts'
import type { ExternalState } from './state.ts'
import { callerOf } from './tools.ts'

const utf8 = new TextEncoder()

export type ExternalDraft = Draft<ExternalState, ExternalEvent>
export type ExternalDecision = Decision<ExternalState, ExternalEvent>

/** Events that the backend reports. Their actor is the backend, even when a driver records them. */
const TOLD: ReadonlySet<ExternalEventType> = new Set<ExternalEventType>([
  'agent_events',
  'session_known',
  'usage_reported',
  'permission_requested',
  'tool_call_requested',
  'model_outcome',
  'transcript_mirrored',
])
/** Events that record a request. Their header names no driver. */
const ASKED: ReadonlySet<ExternalEventType> = new Set<ExternalEventType>([
  'external_started',
  'cancel_requested',
  'permission_decided',
  'approval_supported',
  'approval_decided',
  'delivered',
  'spans_reported',
])

/** The actor that cancels a run over its limits. */
export const RUNTIME: Actor = { kind: 'system', id: 'runtime' }

/** The end of a run that was cancelled before its process started. */
export const CANCELLED_UNSTARTED = { outcome: 'cancelled', exit: null } as const

/**
 * One decision in progress. Each emitted event is folded immediately, so the next event is decided on the new state.
 */
export class ExternalDecisionBuilder implements CallDecision {
  readonly #drafts: ExternalDraft[] = []
  readonly #place: StreamPlace
  readonly context: ExternalContext
  #state: ExternalState | null
  /** The claim of the deciding driver: from the context, or from a claim in this decision. */
  #driver: ExternalContext['driver']

  constructor(state: ExternalState | null, place: StreamPlace, context: ExternalContext) {
    this.#state = state
    this.#place = place
    this.context = context
    this.#driver = context.driver
  }

  get state(): ExternalState | null {
    return this.#state
  }

  /** The revision of the last event, including the events of this decision. */
  get revision(): number {
    return this.#place.revision + this.#drafts.length
  }

  /** The claim of the deciding driver; undefined: no driver decides. */
  get driver(): ExternalContext['driver'] {
    return this.#driver
  }

  get caller(): Caller {
    const caller = this.#state === null ? null : callerOf(this.#state)
    if (caller === null) throw new Error('an agent without tools makes no calls')
    return caller
  }

  get calls(): readonly Call[] {
    return this.#state?.tools?.open ?? []
  }

  /** A salt for hashes of arguments, in hex. */
  hashSalt(): string {
    return hex(this.context.salt())
  }

  get decision(): ExternalDecision {
    return { drafts: this.#drafts, state: this.#state }
  }

  /** Whether the deciding driver owns the run. Only the owner may start a process or a call. */
  get drives(): boolean {
    const [held, own] = [this.#state?.driver, this.#driver]
    return own !== undefined && held?.id === own.id && held.epoch === own.epoch
  }

  emit<T extends ExternalEventType>(
    type: T,
    given: ExternalBodyOf<T>,
    about: { readonly runId?: string; readonly actor?: Actor; readonly toolCallId?: string } = {},
  ): void {
    const { context } = this
    const { body, salted } = stored(given, context.salt())
    const fault = bodyFault(type, body)
    if (fault !== null)
      throw new LogError('APPEND_INVALID', `${type} is not of its shape, so nothing was recorded: ${fault}`)
    const claim = type === 'driver_claimed' ? (body as ExternalBodyOf<'driver_claimed'>) : null
    if (claim !== null) this.#driver = { id: claim.driverId, epoch: claim.epoch }
    const driver = ASKED.has(type) ? undefined : this.#driver
    const agentId = idOf(this.#place.stream)
    const event = {
      type,
      body,
      revision: this.#place.revision + 1 + this.#drafts.length,
      at: context.now,
      turn: 0,
      agentId,
      runId: this.#state?.runId ?? about.runId ?? agentId,
      commandId: context.commandId,
      actor: about.actor ?? this.#actorOf(type),
      bodyHash: salted.header.hash,
      ...(context.correlationId === undefined ? {} : { correlationId: context.correlationId }),
      ...(about.toolCallId === undefined ? {} : { toolCallId: about.toolCallId }),
      ...(driver === undefined ? {} : { driver }),
    } as ExternalEvent
    const after = evolveExternal(this.#state, event)
    this.#state = after
    this.#drafts.push({ event, body: salted, after, checkpoint: type === 'external_ended' })
  }

  #actorOf(type: ExternalEventType): Actor {
    if (TOLD.has(type)) return { kind: 'backend', id: this.#state!.backend }
    if (ASKED.has(type)) return this.context.by
    return this.#driver === undefined ? RUNTIME : { kind: 'driver', id: this.#driver.id }
  }
}

/** The body as it is stored and read back: well-formed, without members that JSON drops. */
function stored(given: object, salt: Uint8Array): { body: unknown; salted: SaltedBody } {
  const text = canonicalText(wellFormed(given))
  const body = JSON.parse(text)
  return { body, salted: saltBody(utf8.encode(text), salt, body) }
}
