import type { Json, JsonObject } from '../../log/json.ts'
import { askedName, UNKNOWN_TOOL } from '../definition/tools.ts'
import { type Block, callArguments } from './content.ts'
import type { ArgumentsRef } from './event-parts.ts'

// A call's arguments are stored once, in the model's answer. Readers of events get them beside the call as well.

/** Whether readers find more in an event of this type than its body says. */
export const showsArguments = (type: string): boolean => type === 'tool_call_start' || type === 'context_set'

/**
 * The body of an event as readers see it: a `tool_call_start` with its `arguments`, with the `secrets` to which they refer
 * where there are any, and with the name that the model wrote for a tool that does not exist; a `context_set` with its
 * `value`. `answer`: the body that the event's `argumentsRef` points to; null: erased.
 */
export function withArguments(type: string, body: JsonObject, answer: JsonObject | null): JsonObject {
  if (typeof body.askedName === 'string') return { ...body, toolName: body.askedName }
  const ref = body.argumentsRef as unknown as ArgumentsRef | undefined
  if (ref === undefined || !showsArguments(type)) return body
  const block = ((answer?.content ?? []) as unknown as readonly Block[])[ref.block]
  const args = block ? callArguments(block) : null
  if (type === 'context_set') return { ...body, value: args?.value ?? null }
  const planned = ((answer?.calls ?? []) as readonly JsonObject[]).find((call) => call.block === ref.block)
  const secrets: Json | undefined = planned?.secrets
  const asked = body.toolName === UNKNOWN_TOOL && typeof block?.name === 'string' ? askedName(block.name) : null
  return {
    ...body,
    ...(asked === null ? {} : { toolName: asked }),
    arguments: args,
    ...(secrets === undefined ? {} : { secrets }),
  }
}
