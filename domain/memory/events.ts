import { z } from 'zod'
import { SCOPES } from '../calls/memory/request.ts'
import type { EventsOf } from '../stream/emitter.ts'
import type { erasureEvents } from '../stream/erasure.ts'

// Storage format: the events of `memory-<scope>-<id>`. Each stream contains one fact.

/** Null: the text was erased. */
const Text = z.string().min(1).nullable()

export const memoryBodies = {
  fact_remembered: z.strictObject({ scope: z.enum(SCOPES), place: z.string(), text: Text }),
  /** The new text of the fact. */
  fact_corrected: z.strictObject({ text: Text }),
  fact_forgotten: z.strictObject({ reason: z.string().min(1).nullable() }),
} as const

export type FactEvent = EventsOf<typeof memoryBodies>
export type MemoryEvent = EventsOf<typeof memoryBodies & typeof erasureEvents>
