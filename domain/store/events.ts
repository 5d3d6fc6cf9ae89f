import { z } from 'zod'
import type { StreamEvent } from '../stream/aggregate.ts'
import { ERASURE_VERSION, erasureEvents } from '../stream/erasure.ts'

// Storage format: the events of `context-<store>`. To change a shape, add a new version and an upcaster; never edit a
// version.

const key = z.string().min(1)

export const bodies = {
  /** `value`: redacted; null after an erasure. `type` and `bytes`: see `VariableRef`. */
  variable_set: z.strictObject({
    key,
    type: z.enum(['string', 'number', 'boolean', 'null', 'array', 'object']),
    bytes: z.int().nonnegative(),
    value: z.json(),
  }),
  variable_deleted: z.strictObject({ key }),
  ...erasureEvents,
} as const

export type ContextEventType = keyof typeof bodies
export type BodyOf<T extends ContextEventType> = z.infer<(typeof bodies)[T]>

/** The current version of each type. */
export const versions: Readonly<Record<ContextEventType, number>> = {
  variable_set: 1,
  variable_deleted: 1,
  residue: ERASURE_VERSION,
  erased: ERASURE_VERSION,
}

/** A decoded event of a store. `runId`: the run that caused the event; absent: no run did. */
export type ContextEvent = {
  readonly [T in ContextEventType]: StreamEvent & { readonly type: T; readonly body: BodyOf<T> }
}[ContextEventType]
