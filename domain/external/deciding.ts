import { canonicalText } from '../log/canonical.ts'
import { LogError } from '../log/errors.ts'
import { type SaltedBody, saltBody } from '../log/seal.ts'
import { wellFormed } from '../log/well-formed.ts'
import type { Decided, Decision } from '../stream/aggregate.ts'
import { bodyFault } from './codec.ts'
import type { ExternalContext } from './commands.ts'
import type { BodyOf, ExternalEvent, ExternalEventType } from './events.ts'
import { evolve } from './evolve.ts'
import type { ExternalState } from './state.ts'

const utf8 = new TextEncoder()

/** A decided event with the bytes that are sealed. */
export interface ExternalDraft extends Decided<ExternalState, ExternalEvent> {
  readonly body: SaltedBody
}
export interface ExternalDecision extends Decision<ExternalState, ExternalEvent> {
  readonly drafts: readonly ExternalDraft[]
}

/** One decision under way: an event is emitted and folded at once, so that the next one is decided on its state. */
export class Deciding {
  readonly #drafts: ExternalDraft[] = []
  readonly #context: ExternalContext
  #state: ExternalState | null

  constructor(state: ExternalState | null, context: ExternalContext) {
    this.#state = state
    this.#context = context
  }

  get decision(): ExternalDecision {
    return { drafts: this.#drafts, state: this.#state }
  }

  /** Does the deciding driver hold the run? Only then may it start anything. */
  get drives(): boolean {
    const [held, own] = [this.#state?.driver, this.#context.driver]
    return own !== undefined && held?.id === own.id && held.epoch === own.epoch
  }

  emit<T extends ExternalEventType>(type: T, given: BodyOf<T>): void {
    const { context, body, salted } = { context: this.#context, ...stored(given, this.#context.salt()) }
    const fault = bodyFault(type, body)
    if (fault !== null)
      throw new LogError('APPEND_INVALID', `${type} is not of its shape, so nothing was recorded: ${fault}`)
    const event = {
      type,
      body,
      revision: (this.#state?.revision ?? -1) + 1,
      at: context.now,
      agentId: context.agentId,
      commandId: context.commandId,
      actor: context.by,
      bodyHash: salted.header.hash,
    } as ExternalEvent
    const after = evolve(this.#state, event)
    this.#state = after
    this.#drafts.push({ event, body: salted, after, checkpoint: type === 'external_ended' })
  }
}

/** A body as it is stored, and as it is read again: well formed, nothing that JSON drops. */
function stored(given: object, salt: Uint8Array): { body: unknown; salted: SaltedBody } {
  const text = canonicalText(wellFormed(given))
  return { body: JSON.parse(text), salted: saltBody(utf8.encode(text), salt) }
}
