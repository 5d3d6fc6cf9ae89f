import { z } from 'zod'
import type { EventsOf } from '../stream/emitter.ts'
import type { erasureEvents } from '../stream/erasure.ts'

// Storage format: the events of `context-<store>`. To change a shape, add a new version and an upcaster; never edit a
// version.

const key = z.string().min(1)

export const storeBodies = {
  /** `value`: redacted; null after an erasure. `type` and `bytes`: see `VariableRef`. */
  variable_set: z.strictObject({
    key,
    type: z.enum(['string', 'number', 'boolean', 'null', 'array', 'object']),
    bytes: z.int().nonnegative(),
    value: z.json(),
  }),
  variable_deleted: z.strictObject({ key }),
} as const

export type VariableEvent = EventsOf<typeof storeBodies>
/** A decoded event of a store. `runId`: the run that caused the event; absent: no run did. */
export type ContextEvent = EventsOf<typeof storeBodies & typeof erasureEvents>
