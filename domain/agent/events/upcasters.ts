import type { Upcaster } from '../../stream/codec.ts'
import type { EventType } from './events.ts'

/** Upcasters by event type and the version that they start from. All types are at version 1, so there is none yet. */
export const upcasters: Partial<Record<EventType, Readonly<Record<number, Upcaster>>>> = {}
