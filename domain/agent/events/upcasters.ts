import type { Upcaster } from '../../stream/codec.ts'
import type { EventType } from './events.ts'

/** Upcasters by event type and source version. Empty, because all types are at version 1. */
export const upcasters: Partial<Record<EventType, Readonly<Record<number, Upcaster>>>> = {}
