import { z } from 'zod'
import type { EventOf } from '../stream/emitter.ts'
import type { erasureEvents } from '../stream/erasure.ts'

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
} as const

export type VariableEvent = EventOf<typeof bodies>
/** A decoded event of a store. `runId`: the run that caused the event; absent: no run did. */
export type ContextEvent = EventOf<typeof bodies & typeof erasureEvents>
