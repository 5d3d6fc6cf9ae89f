import type { z } from 'zod'
import { canonicalBytes } from '../log/canonical.ts'
import { LogError } from '../log/errors.ts'
import { firstIssue } from '../log/issues.ts'
import { saltBody } from '../log/seal.ts'
import type { Decision, Draft, StreamContext, StreamEvent, StreamPlace } from './aggregate.ts'

/** The schemas of a kind's event bodies, by type. */
export type Bodies = Readonly<Record<string, z.ZodType>>

/** The events of a kind, as a union of its types. */
export type EventsOf<B extends Bodies> = {
  readonly [T in keyof B & string]: StreamEvent & { readonly type: T; readonly body: z.infer<B[T]> }
}[keyof B & string]

/** The run and the call behind a request; absent for a person's request. */
export interface CausedContext extends StreamContext {
  readonly runId?: string
  readonly toolCallId?: string
  /** `<stream>@<revision>` of the call's intent. */
  readonly causationId?: string
}

/** Records an event. Throws `APPEND_INVALID` for a body that is not of its type's shape. */
export type Emit<B extends Bodies> = <T extends keyof B & string>(type: T, body: z.infer<B[T]>) => void

/** The part of a kind that its emitter needs. `decide` emits the events of a decision, in order. */
interface Emitting<State, B extends Bodies, Command, Context> {
  readonly bodies: B
  evolve(state: State | null, event: EventsOf<B>): State
  decide(state: State | null, command: Command, emit: Emit<B>, context: Context): void
}

/**
 * The decisions of a kind without a driver. Each event is folded at once, so that an impossible event throws before
 * anything is recorded. The events copy the cause of the request from the context.
 */
export const deciderOf =
  <State, B extends Bodies, Command, Context extends CausedContext>({
    bodies,
    evolve,
    decide,
  }: Emitting<State, B, Command, Context>) =>
  (state: State | null, place: StreamPlace, command: Command, context: Context): Decision<State, EventsOf<B>> => {
    const drafts: Draft<State, EventsOf<B>>[] = []
    const { commandId, by, runId, toolCallId, causationId, correlationId } = context
    let after = state
    const emit: Emit<B> = (type, given) => {
      const fault = bodies[type]!.safeParse(given).error
      if (fault !== undefined)
        throw new LogError(
          'APPEND_INVALID',
          `${type} is not of its shape, so nothing was recorded: ${firstIssue(fault, 'body')}`,
        )
      const body = saltBody(canonicalBytes(given), context.salt())
      const event = {
        ...{ type, body: given, revision: place.revision + 1 + drafts.length, at: context.now },
        ...{ commandId, actor: by, bodyHash: body.header.hash },
        ...(runId === undefined ? {} : { runId }),
        ...(toolCallId === undefined ? {} : { toolCallId }),
        ...(causationId === undefined ? {} : { causationId }),
        ...(correlationId === undefined ? {} : { correlationId }),
      } as EventsOf<B>
      const next = evolve(after, event)
      drafts.push({ event, body, after: next, checkpoint: false })
      after = next
    }
    decide(state, command, emit, context)
    return { drafts, state: after }
  }
