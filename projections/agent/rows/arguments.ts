import type { ArgumentsRef } from '../../../domain/calls/events/event-parts.ts'
import { callArguments } from '../../../domain/calls/requested-calls.ts'
import type { ProjectedEvent } from './event.ts'

/** The place of the arguments that an event's rows show: the model's answer and its content block; null: none. */
function argumentsOf(e: ProjectedEvent): ArgumentsRef | null {
  if (e.erased) return null
  if (e.type === 'context_set') return e.body && 'argumentsRef' in e.body ? e.body.argumentsRef : null
  return e.type === 'artifact_registered' ? (e.body?.artifact.argumentsRef ?? null) : null
}

/** The revision of the model's answer whose arguments an event's rows show; null: none. */
export const referenceOf = (e: ProjectedEvent): number | null => argumentsOf(e)?.revision ?? null

/** Adds the arguments of a call to an event. `answer`: the model's answer with the arguments; null: unreadable. */
export function withCallArguments(e: ProjectedEvent, answer: ProjectedEvent | null): ProjectedEvent {
  const place = argumentsOf(e)
  if (place === null) return e
  const block = answer?.type === 'model_call_end' && !answer.erased ? answer.body?.content[place.block] : undefined
  return { ...e, arguments: block === undefined ? null : callArguments(block) }
}
