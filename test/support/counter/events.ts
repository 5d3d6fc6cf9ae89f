import { z } from 'zod'
import { FORMAT, type Header, READER } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { StreamEvent } from '../../../domain/stream/aggregate.ts'
import { erasureEvents } from '../../../domain/stream/erasure.ts'

/** Bodies of a counter's events. `note`: a person's text. */
export const bodies = {
  counter_opened: z.strictObject({ bellAt: z.int().positive() }),
  counted: z.strictObject({ by: z.int(), note: z.string() }),
  /** The intent of the only effect: ringing the bell. */
  ring_requested: z.strictObject({ total: z.int() }),
  rung: z.strictObject({ times: z.int() }),
  counter_closed: z.strictObject({}),
  ...erasureEvents,
} as const

type Bodies = { readonly [T in keyof typeof bodies]: z.infer<(typeof bodies)[T]> }
export type CounterType = keyof Bodies
export type CounterEvent = {
  readonly [T in CounterType]: StreamEvent & { readonly type: T; readonly body: Bodies[T] }
}[CounterType]
export type BodyOf<T extends CounterType> = Bodies[T]

export const versions: Readonly<Record<string, number>> = Object.fromEntries(
  Object.keys(bodies).map((type) => [type, 1]),
)

export function checkKnown({ format, type, version, minReader, stream, revision }: Header): void {
  const at = `${stream}@${revision}`
  if (format > FORMAT || (minReader ?? 1) > READER) throw new LogError('LOG_NEWER', `${at} is of a newer program`)
  if (!Object.hasOwn(bodies, type) || version > versions[type]!)
    throw new LogError('UNKNOWN_EVENT', `${type} at ${at} is unknown`)
}

export function decode(header: Header, body: Uint8Array): CounterEvent {
  checkKnown(header)
  return decodeKept(header, { body: JSON.parse(new TextDecoder().decode(body)) })
}

export function decodeKept(header: Header, { body }: { readonly body: unknown }): CounterEvent {
  const { type, revision, commandId, actor, timestamp, runId, causationId } = header
  return {
    ...{ type, body, revision, at: Date.parse(timestamp), commandId, actor, bodyHash: header.body.hash },
    ...(runId === undefined ? {} : { runId }),
    ...(causationId === undefined ? {} : { causationId }),
  } as CounterEvent
}
