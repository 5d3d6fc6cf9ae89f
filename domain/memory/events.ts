import { z } from 'zod'
import { SCOPES } from '../calls/memory/request.ts'
import type { StreamEvent } from '../stream/aggregate.ts'
import { ERASURE_VERSION, erasureEvents } from '../stream/erasure.ts'

// Storage format: the events of `memory-<scope>-<id>`. Each stream contains one fact.

/** Null: the text was erased. */
const Text = z.string().min(1).nullable()

export const bodies = {
  fact_remembered: z.strictObject({ scope: z.enum(SCOPES), place: z.string(), text: Text }),
  /** The new text of the fact. */
  fact_corrected: z.strictObject({ text: Text }),
  fact_forgotten: z.strictObject({ reason: z.string().min(1).nullable() }),
  ...erasureEvents,
} as const

type Bodies = { readonly [T in keyof typeof bodies]: z.infer<(typeof bodies)[T]> }
export type MemoryEventType = keyof Bodies
export type BodyOf<T extends MemoryEventType> = Bodies[T]
export type MemoryEvent = {
  readonly [T in MemoryEventType]: StreamEvent & { readonly type: T; readonly body: Bodies[T] }
}[MemoryEventType]

export const versions: Readonly<Record<MemoryEventType, number>> = {
  fact_remembered: 1,
  fact_corrected: 1,
  fact_forgotten: 1,
  residue: ERASURE_VERSION,
  erased: ERASURE_VERSION,
}
