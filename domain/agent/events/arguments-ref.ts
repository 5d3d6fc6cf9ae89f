import { z } from 'zod'
import type { Block } from '../../calls/content.ts'
import { type ArgumentsRef, PlannedCall } from '../../calls/events/event-parts.ts'
import { callArguments } from '../../calls/requested-calls.ts'
import { askedName, UNKNOWN_TOOL } from '../../calls/tools/tools.ts'
import { AnyJsonValue } from '../../log/body-parts.ts'
import type { Json, JsonObject } from '../../log/json.ts'

// The log stores a call's arguments once, in the model's answer. Queries also return them with the events of the call.

/** The members that {@link withArguments} adds, by type of event. Arguments are null if they are erased or not an object. */
export interface ResolvedArguments {
  readonly tool_call_start: { readonly arguments: JsonObject | null; readonly secrets?: PlannedCall['secrets'] }
  readonly context_set: { readonly value: Json }
}

/** The schemas of {@link ResolvedArguments}. */
export const RESOLVED_ARGUMENTS = {
  tool_call_start: {
    arguments: z.record(z.string(), AnyJsonValue).nullable(),
    secrets: PlannedCall.shape.secrets,
  },
  context_set: { value: AnyJsonValue },
} as const satisfies { [T in keyof ResolvedArguments]: { [M in keyof ResolvedArguments[T]]-?: z.ZodType } }

/** Whether {@link withArguments} adds members to an event of this type. */
export const showsArguments = (type: string): type is keyof ResolvedArguments => Object.hasOwn(RESOLVED_ARGUMENTS, type)

/** Where the arguments of an event are stored, if the event has any. */
export const argumentsRefOf = (body: JsonObject): ArgumentsRef | undefined =>
  body.argumentsRef as ArgumentsRef | undefined

/**
 * A body's JSON text with its arguments resolved. `answer`: the body at a revision of the same stream; null: erased.
 */
export function shownText(type: string, text: string, answer: (revision: number) => JsonObject | null): string {
  if (!showsArguments(type) && !text.includes('"askedName":"')) return text
  const body = JSON.parse(text) as JsonObject
  if (typeof body.askedName === 'string') return JSON.stringify(withArguments(type, body, null))
  const ref = argumentsRefOf(body)
  return ref === undefined ? text : JSON.stringify(withArguments(type, body, answer(ref.revision)))
}

/**
 * The body of an event with its arguments resolved. A `tool_call_start` gets `arguments`, `secrets` (the secrets that
 * the arguments refer to, if any) and, for an unknown tool, the name that the model wrote. A `context_set` gets
 * `value`. `answer`: the body that the event's `argumentsRef` points to; null after its erasure.
 */
export function withArguments(type: string, body: JsonObject, answer: JsonObject | null): JsonObject {
  if (typeof body.askedName === 'string') return { ...body, toolName: body.askedName }
  const ref = argumentsRefOf(body)
  if (ref === undefined || !showsArguments(type)) return body
  const block = ((answer?.content ?? []) as Block[])[ref.block]
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
