import type { Place } from '../calls/memory/request.ts'
import { canonicalBytes } from '../log/canonical.ts'
import { saltBody } from '../log/seal.ts'
import type { Place as At, Decision, StreamContext } from '../stream/aggregate.ts'
import { MemoryError } from './errors.ts'
import { type BodyOf, bodies, type MemoryEvent } from './events.ts'
import { evolve, type MemoryState } from './state.ts'

export type MemoryCommand =
  | ({ readonly kind: 'remember'; readonly text: string } & Place)
  | { readonly kind: 'correct'; readonly text: string }
  | { readonly kind: 'forget'; readonly reason: string | null }

/** The run and the call behind a command; absent for a person's command. */
export interface MemoryContext extends StreamContext {
  readonly runId?: string
  readonly toolCallId?: string
  /** `<stream>@<revision>` of the call's intent. */
  readonly causationId?: string
}

type Recorded = Exclude<MemoryEvent['type'], 'residue' | 'erased'>

/**
 * Decides a command: one event, or none if the fact is already forgotten. Throws MemoryError if the command is refused.
 */
export function decide(
  state: MemoryState | null,
  at: At,
  command: MemoryCommand,
  context: MemoryContext,
): Decision<MemoryState, MemoryEvent> {
  const made = eventOf(state, command)
  if (made === null) return { drafts: [], state }
  const { commandId, by, runId, toolCallId, causationId, correlationId } = context
  const body = saltBody(canonicalBytes(bodies[made.type].parse(made.body)), context.salt())
  const event = {
    ...made,
    ...{ revision: at.revision + 1, at: context.now, commandId, actor: by, bodyHash: body.header.hash },
    ...(runId === undefined ? {} : { runId }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(causationId === undefined ? {} : { causationId }),
    ...(correlationId === undefined ? {} : { correlationId }),
  } as unknown as MemoryEvent
  const after = evolve(state, event)
  return { drafts: [{ event, body, after, checkpoint: false }], state: after }
}

type Made = { readonly [T in Recorded]: { readonly type: T; readonly body: BodyOf<T> } }[Recorded]

function eventOf(state: MemoryState | null, command: MemoryCommand): Made | null {
  if (command.kind === 'remember') {
    if (state !== null) throw new MemoryError('MEMORY_EXISTS', 'the fact was saved before')
    const { scope, place, text } = command
    return { type: 'fact_remembered', body: { scope, place, text } }
  }
  if (state === null) throw new MemoryError('MEMORY_UNKNOWN', 'there is no such fact; list the memories to find it')
  if (command.kind === 'forget')
    return state.forgotten ? null : { type: 'fact_forgotten', body: { reason: command.reason } }
  if (state.forgotten)
    throw new MemoryError('MEMORY_FORGOTTEN', 'the fact was forgotten and cannot be corrected; save a new one')
  return { type: 'fact_corrected', body: { text: command.text } }
}
