import { callArguments } from '../../domain/agent/events/content.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import { ProjectionError } from '../errors.ts'
import { type EventSources, readEvent } from './events.ts'

/**
 * The arguments that the model gave a call, from the answer that asked for it (`requested_revision` and `block` of its
 * row); null: none known, no JSON object, or erased.
 */
export async function argumentsOf(
  sources: EventSources,
  agentId: string | null,
  revision: number | null,
  block: number | null,
): Promise<JsonObject | null> {
  if (agentId === null || revision === null || block === null) return null
  // The tables may have seen what the log has lost since.
  const event = await readEvent(sources, agentId, revision).catch(unlessFound)
  if (event === null) return null
  const asked = event.type === 'model_call_end' ? event.body?.content[block] : undefined
  return asked ? callArguments(asked) : null
}

const unlessFound = (error: unknown): null => {
  if (error instanceof ProjectionError && error.code === 'NOT_FOUND') return null
  throw error
}
