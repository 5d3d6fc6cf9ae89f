import { z } from 'zod'
import type { StreamEvent } from '../stream/aggregate.ts'
import { ERASURE_VERSION, erasureEvents } from '../stream/erasure.ts'

// Storage format: the events of `context-<store>`. A change of a shape is a new version and an upcaster, never an edit.

const key = z.string().min(1)

export const bodies = {
  /** `value`: redacted. `type` and `bytes` are what its reference tells. */
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

/** A decoded event of a store. `runId`: the run that caused it; absent where there is none. */
export type ContextEvent = {
  readonly [T in ContextEventType]: StreamEvent & { readonly type: T; readonly body: BodyOf<T> }
}[ContextEventType]
