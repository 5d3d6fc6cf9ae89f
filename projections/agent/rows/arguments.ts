import { callArguments } from '../../../domain/agent/events/content.ts'
import type { ArgumentsRef } from '../../../domain/agent/events/events.ts'
import type { ProjectedEvent } from './event.ts'

/** Where the arguments are that an event's rows show: the answer that holds them, and its content block; null: none. */
function argumentsOf(e: ProjectedEvent): ArgumentsRef | null {
  if (e.erased) return null
  if (e.type === 'context_set') return e.body && 'argumentsRef' in e.body ? e.body.argumentsRef : null
  return e.type === 'artifact_registered' ? (e.body?.artifact.argumentsRef ?? null) : null
}

/** The revision of the model's answer whose arguments an event's rows show; null: they show none. */
export const referenceOf = (e: ProjectedEvent): number | null => argumentsOf(e)?.revision ?? null

/** An event with the arguments of its call, from the answer that it refers to. `answer` null: that answer cannot be read. */
export function withArguments(e: ProjectedEvent, answer: ProjectedEvent | null): ProjectedEvent {
  const place = argumentsOf(e)
  if (place === null) return e
  const block = answer?.type === 'model_call_end' && !answer.erased ? answer.body?.content[place.block] : undefined
  return { ...e, arguments: block === undefined ? null : callArguments(block) }
}
